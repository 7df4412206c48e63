# checks/plan.py: each step of a plan has an owner.
def owners(trial):
    steps = (trial["json"] or {}).get("steps", [])
    without = [step["name"] for step in steps if not step.get("owner")]
    return {"pass": not without, "reason": "steps without an owner: %s" % ", ".join(without) if without else "each has one"}
