# SPDX-License-Identifier: Apache-2.0
"""Prompts out of the state into single files, and replies back. The files have numbers in a drawn order, so that whoever answers
sees neither arm nor task but what the prompt itself says. The number begins with the round, which all prompts of a folder share."""
import hashlib
import json
import pathlib
import random
import re
import time

import protocol

MISSING = "missing"
ENDINGS = (".refused.md", ".truncated.md", ".md")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def tokens(text):
    """Four bytes a token, an estimate: who answers through a file tells no count."""
    return (len(text.encode()) + 3) // 4


def reply_file(prompt):
    """A prompt's reply, whatever its ending; None before there is one."""
    stem = prompt.name.removesuffix(".prompt.md")
    found = [path for ending in ENDINGS if (path := prompt.with_name(stem + ending)).exists() and path.read_bytes().strip()]
    return found[0] if found else None


def waiting(state):
    """Prompts without a reply, of the arms; the judging runs' are nobody's."""
    return [path for path in sorted(pathlib.Path(state).glob("exchange/*/*/*.prompt.md")) if path.parent.parent.name != protocol.JUDGE and reply_file(path) is None]


def write_prompts(state, folder):
    """One file for each prompt that waits, and manifest.json; each is to be answered once, in a conversation that has seen nothing else."""
    state, folder = pathlib.Path(state), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "manifest.json").exists() and not all_taken(state, folder):
        raise SystemExit(f"{folder} has prompts whose replies are not taken yet; take them with `replies`, or name another folder")
    prompts = waiting(state)
    round_ = max((int(path.name[1:3]) for path in prompts), default=0)
    random.Random(protocol.SEED + round_).shuffle(prompts)
    manifest = []
    for number, path in enumerate(prompts, 1):
        text = path.read_text()
        name = f"p{round_}{number:03}"
        if reply_file(folder / f"{name}.prompt.md"):
            raise SystemExit(f"{folder} has a reply {name} to another prompt; name another folder")
        (folder / f"{name}.prompt.md").write_text(text)
        manifest.append({"prompt": f"{name}.prompt.md", "reply": f"{name}.md", "sha256": digest(text), "tokens": tokens(text), "of": str(path.relative_to(state))})
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} prompts, about {sum(each['tokens'] for each in manifest)} tokens, in {folder}; write each reply beside its prompt, as {manifest[0]['reply'] if manifest else 'pRNNN.md'}")


def all_taken(state, folder):
    return all(reply_file(state / each["of"]) for each in json.loads((folder / "manifest.json").read_text()))


def unreadable(text):
    """Why a reply holds no kernel file, in short; empty: it may hold one. Nobody is asked again for that."""
    blocks = re.findall(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", text, re.M | re.S)
    missing = [name for name in ("Performance Analysis", "Algorithm Design", "Code Implementation") if name.lower() not in text.lower()]
    if missing:
        return "no heading " + ", ".join(missing)
    if not blocks:
        return "no fenced block" + (" that is closed" if "```" in text else "")
    return "" if any("__global__" in code and "//@" in code and "launch" in code for _, code in blocks) else "no block with a kernel and a launch line"


def look(folder):
    """Which replies of a folder are missing and which hold no kernel file. [(name, why)]"""
    folder = pathlib.Path(folder)
    found = []
    for each in json.loads((folder / "manifest.json").read_text()):
        given = reply_file(folder / each["prompt"])
        if given is None:
            found.append((each["reply"], MISSING))
            continue
        why = "" if not given.name.endswith(".refused.md") else "refused"
        why = why or ("cut off" if given.name.endswith(".truncated.md") else unreadable(given.read_text(errors="replace")))
        if why:
            found.append((given.name, why))
    return found


def say(folder):
    found = look(folder)
    missing = [name for name, why in found if why == MISSING]
    for name, why in found:
        if why != MISSING:
            print(f"{name}: {why}; it is taken as it is")
    if missing:
        print(f"missing ({len(missing)}): {' '.join(missing)}")


def take_replies(state, folder, model):
    """Copies replies to where the runs look for them; a reply that was taken is never replaced. Returns how many are missing."""
    state, folder = pathlib.Path(state), pathlib.Path(folder)
    missing = taken = 0
    with open(state / "replies.jsonl", "a", encoding="utf-8") as record:
        for each in json.loads((folder / "manifest.json").read_text()):
            prompt = state / each["of"]
            if digest(prompt.read_text()) != each["sha256"] or digest((folder / each["prompt"]).read_text()) != each["sha256"]:
                raise SystemExit(f"{each['prompt']} is not the prompt that waits in {each['of']}")
            if reply_file(prompt):
                continue
            given = reply_file(folder / each["prompt"])
            if given is None:
                missing += 1
                continue
            text = given.read_bytes().decode(errors="replace")
            ending = given.name.removeprefix(each["prompt"].removesuffix(".prompt.md"))
            prompt.with_name(prompt.name.removesuffix(".prompt.md") + ending).write_text(text)
            record.write(json.dumps({"of": each["of"], "model": model, "taken": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                                     "prompt_sha256": each["sha256"], "reply_sha256": digest(text),
                                     "prompt_tokens": each["tokens"], "reply_tokens": tokens(text)}) + "\n")
            taken += 1
    say(folder)
    print(f"{taken} replies taken, {missing} missing")
    return missing


def check_record(state):
    """Every reply that was judged is one that was recorded, unchanged. Returns what is not, one line each."""
    state = pathlib.Path(state)
    problems = []
    record = state / "replies.jsonl"
    for line in record.read_text().splitlines() if record.exists() else []:
        each = json.loads(line)
        prompt = state / each["of"]
        reply = reply_file(prompt)
        if reply is None or digest(reply.read_text()) != each["reply_sha256"] or digest(prompt.read_text()) != each["prompt_sha256"]:
            problems.append(each["of"])
    return problems
