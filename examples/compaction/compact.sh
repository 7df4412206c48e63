#!/bin/sh
# Stands in for a model: follows the lines of compact.md, so that the example needs no key.
# Reads {"summary": …, "messages": [{"role", "text"}, …]} from standard input, and writes a summary.
conversation=$(sed 's/\\n/\
/g; s/\\"/"/g')
asks() { grep -Eiq "$1" compact.md; }
find_all() { printf '%s\n' "$conversation" | grep -Eo "$1" | sort -u; }

echo "Task: fix the total of an order with a voucher."
if asks 'rules?|instructions?'; then
  echo "Rules:"
  find_all '(Never|Always|Only|Must) [^."]*\.'
fi
if asks 'files?|paths?'; then
  echo "Files:"
  find_all '(has been updated|created successfully at)[^"]*|The file [^ ]*' | grep -Eo '/[^ "]*[a-z]' | sort -u
fi
if asks 'commands?'; then
  echo "Commands:"
  find_all 'npm run [a-z]+'
fi
if asks 'errors?|failures?'; then
  echo "Errors:"
  find_all '[A-Z][A-Za-z]*Error: .*'
fi
