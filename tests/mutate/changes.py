"""What can be changed in a source, one small thing at a time."""
import hashlib
import re

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "++": "--", "--": "++", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
ORDER = re.compile(r"__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|CONSUME)")
FENCE = re.compile(r'"(?:lfence|isb|fence[ .][^"]*|dmb[^"]*|dsb[^"]*)(?:\\n[^"]*)?"')
TOKEN = re.compile(r'/\*.*?\*/|, "memory"|(?<=: )"memory", |\b__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|CONSUME)\b|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:\\\n|[^\n])*'
                   r'|\b(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+<>&|](?==)'
                   r'|(?<= )[-+<>&|](?= )|\bif \(|^\t+(?:TACH_|[a-z_])[^;{}=\n]*(?:=|\()[^;{}\n]*;$', re.S | re.M)

# Arguments of system calls: later arguments, up to six, are zeros that the kernel ignores.
TAKES = {"close": 1, "munmap": 2, "mprotect": 3, "ioctl": 3, "read": 3, "gettid": 0, "getpid": 0, "getppid": 0, "tgkill": 3, "sigaltstack": 2,
         "prlimit64": 4, "rt_sigprocmask": 4, "readlinkat": 4, "perf_event_open": 5, "kcmp": 5, "fcntl": 3}
CALL = re.compile(r"\btach__sys\(SYS_(\w+)")
INNER = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[()]')

# For assembly: an instruction of a template, its number, and replacements that invert a branch, a sum or a condition.
TEMPLATE = re.compile(r"(?:\b__asm__(?:\s+\w+)*|\bTACH__\w+_(?:BY|AT))\s*\(")
INSTRUCTION = re.compile(r"(?:(?<=\")|(?<=\\n)|(?<=:))(?:\\t| )*([a-z][^\\\"]*?) *(?=\\|\"$)")
ALONE = ("rdpmc", "rdtsc", "ret", "ebreak")
IMMEDIATE = re.compile(r"(?<=[#$])(?:0x[0-9a-f]+|\d+)\b")
TURNS = {"cbz": "cbnz", "tbz": "tbnz", "add": "sub", "inc": "dec", "b.ne": "b.eq", "jz": "jnz", "je": "jne", "jc": "jnc", "jb": "jae",
         "js": "jns", "beqz": "bnez", "or": "and", "orr": "and", "lo": "hs", "cmovb": "cmovae", "shl": "shr", "sll": "srl"}
TURNS.update({there: here for here, there in TURNS.items() if there not in ("and", "sub") or here in ("or", "add")})
WORD = re.compile(r"(?<![\w%.\[])(?:" + "|".join(re.escape(w) for w in sorted(TURNS, key=len, reverse=True)) + r")(?=[lqwd]?(?: |$))")


def passed_over(text):
    """Where the zeros are that no system call looks at."""
    found = set()
    for m in CALL.finditer(text):
        depth, comma, at = 1, -1, m.end()
        while depth:
            if text[at] == "0" and depth == 1 and comma >= TAKES.get(m.group(1), 6) and text[at - 1] == " ":
                found.add(at)
            comma += text[at] == "," and depth == 1
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return found


def assembly(text):
    """Changes of the instructions in templates."""
    found = []
    for m in TEMPLATE.finditer(text):
        depth, at = 1, m.end()
        while depth:
            inner = re.compile(INNER.pattern + "|[:,]").search(text, at)
            token, at = inner.group(0), inner.end()
            if token in ":," and depth == 1:
                break  # operands
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token[0] != '"' or FENCE.fullmatch(token):
                continue
            for i in INSTRUCTION.finditer(token):
                if " " not in i.group(1) and i.group(1) not in ALONE:
                    continue  # a register, a section's flags
                start = inner.start() + i.start(1)
                if i.group(1).count("{") == i.group(1).count("}"):  # of two dialects whole
                    found.append((start, start + len(i.group(1)), "nop"))
                for turn in WORD.finditer(i.group(1)):
                    found.append((start + turn.start(), start + turn.end(), TURNS[turn.group(0)]))
                for number in IMMEDIATE.finditer(i.group(1)):
                    found.append((start + number.start(), start + number.end(), str(int(number.group(0), 0) + 1)))
    return found


def changes(text, inside=False):
    """(start, end, replacement) of every change."""
    found, passed = [] if inside else assembly(text), set() if inside else passed_over(text)
    for m in TOKEN.finditer(text):
        token, at = m.group(0), m.start()
        if FENCE.fullmatch(token):
            found.append((at, m.end(), '""'))
        elif '"memory"' in token and not token.startswith("/*"):
            if token in (', "memory"', '"memory", '):
                found.append((at, m.end(), ""))
        elif ORDER.fullmatch(token):
            found.append((at, m.end(), "__ATOMIC_RELAXED"))
        elif token in SWAPS:
            found.append((at, m.end(), SWAPS[token]))
        elif token[0].isdigit():
            found.append((at, m.end(), f"({token} + 1)"))
        elif token == "if (":
            depth, end = 1, m.end()
            while depth:
                inner = INNER.search(text, end)
                depth += {"(": 1, ")": -1}.get(inner.group(0), 0)
                end = inner.end()
            found.append((at, end, "if (!(" + text[m.end():end] + ")"))
        elif token.lstrip(" \t")[0] == "#":  # a macro of more than a line is code; its head is not
            head = re.match(r"\s*#\s*define\b[^\n]*\\\n", token)
            if head:
                found += [(at + head.end() + s, at + head.end() + e, new) for s, e, new in changes(token[head.end():], True)]
        elif token[0] == "\t":
            if not re.match(r"\s*(return|goto|static|const|struct|unsigned|int|size_t|uint\w+)\b", token):
                found.append((at, m.end(), ";"))
            code = token.lstrip("\t")  # which is no statement again
            at = m.end() - len(code)
            found += [(at + s, at + e, new) for s, e, new in changes(code, True)]
    return [c for c in found if c[0] not in passed]


class Change:
    def __init__(self, text, start, end, new):
        self.start, self.end, self.new = start, end, new
        self.number = text.count("\n", 0, start) + 1
        begin = text.rfind("\n", 0, start) + 1
        if not text[begin:start].strip():  # a statement
            start += len(text[start:end]) - len(text[start:end].lstrip())
        line = text[begin:text.find("\n", start)]
        self.line = " ".join(line.rstrip("\\").split())
        self.what = f"{' '.join(text[start:end].split())} -> {' '.join(new.split())}"
        nth = len(re.findall(re.escape(text[start:end].strip()), text[begin:start]))
        if nth:
            self.what += f" #{nth + 1}"
        around = text[:begin].splitlines()[-3:]
        self.key = hashlib.sha256("\n".join(around + [self.line, self.what]).encode()).hexdigest()[:16]
