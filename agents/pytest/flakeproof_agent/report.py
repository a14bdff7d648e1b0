"""From pytest's reports of the phases of a test to one outcome."""

#: Characters of output and of failure text that are sent; the ends matter most.
OUTPUT_CAP = 64 * 1024
TEXT_CAP = 64 * 1024


def result_message(item, reports):
    """The outcome of all reports on one execution of an item."""
    reports = [report for report in reports if report.nodeid == item.nodeid]
    failed = [report for report in reports if report.outcome == "failed"]
    message = {"say": "result", "outcome": _outcome(reports, failed)}
    note = _note(reports)
    if note:
        message["note"] = note
    if failed:
        message["failure"] = _failure(_most_telling(failed))
    output = _output(reports)
    if output:
        message["output"] = _capped(output, OUTPUT_CAP)
    return message


def _outcome(reports, failed):
    if any(report.when == "call" for report in failed):
        return "failed"
    if failed:
        return "errored"
    # A skipped subtest does not skip its test.
    if any(report.skipped for report in reports if not _is_subtest(report)):
        return "skipped"
    return "passed"


def _note(reports):
    for report in reports:
        expected = getattr(report, "wasxfail", None)
        if expected is not None:
            word = "expected failure" if report.skipped else "passed unexpectedly"
            return f"{word}: {expected}" if expected else word
        if report.skipped and isinstance(report.longrepr, tuple):
            return report.longrepr[2]
    return None


def _most_telling(failed):
    """The first failure; a subtest's own failure rather than the test's remark that one failed."""
    subtests = [report for report in failed if _is_subtest(report)]
    return (subtests or failed)[0]


def _is_subtest(report):
    return hasattr(report, "context")


def _failure(report):
    text = report.longreprtext
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return {
            "phase": report.when,
            "message": crash.message,
            "text": _capped(text, TEXT_CAP),
            "file": str(crash.path),
            "line": crash.lineno,
        }
    lines = [line for line in text.splitlines() if line.strip()]
    return {
        "phase": report.when,
        "message": lines[-1].strip() if lines else "failed without a message",
        "text": _capped(text, TEXT_CAP),
    }


def _output(reports):
    if not reports:
        return ""
    # Each phase's report repeats the sections of the phases before it: the last has all.
    seen = []
    for report in reports:
        for section in report.sections:
            if section not in seen:
                seen.append(section)
    return "\n".join(f"--- {title} ---\n{content}" for title, content in seen)


def _capped(text, cap):
    if len(text) <= cap:
        return text
    half = cap // 2
    return f"{text[:half]}\n[... {len(text) - cap} characters left out ...]\n{text[-half:]}"
