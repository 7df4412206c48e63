#!/bin/sh
# checks/calm.sh: an answer that shouts is refused.
if grep -q '"answer":.*!!!'; then
  echo '{"pass": false, "reason": "it shouts"}'
else
  echo '{"pass": true, "reason": "it does not shout"}'
fi
