"""Property files and task definitions as the competition writes them."""

from __future__ import annotations

import pytest

from loopless.check.certificates.property import Property
from loopless.errors import SourceError, UsageError
from loopless.project.tasks import read_property, read_task

PROPERTIES = {
    "CHECK( init(main()), LTL(G ! call(reach_error())) )": Property.UNREACH_CALL,
    "CHECK(init(main()),LTL(G!call(reach_error())))": Property.UNREACH_CALL,
    "CHECK( init(main()), LTL(F end) )": Property.TERMINATION,
    "CHECK( init(main()), LTL(G ! overflow) )": Property.NO_OVERFLOW,
    "\nCHECK( init(main()), LTL(G ! overflow) )\n\n": Property.NO_OVERFLOW,
    "CHECK( init(main()), LTL(G ! call(other_error())) )": None,
    "CHECK( init(other()), LTL(F end) )": None,
    "CHECK( init(main()), LTL(G ! data-race) )": None,
    "CHECK( init(main()), LTL(G valid-free) )": None,
    "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )": None,
    "": None,
}


@pytest.mark.parametrize("text", PROPERTIES)
def test_property_files(tmp_path, text):
    file = tmp_path / "p.prp"
    file.write_text(text, encoding="utf-8")
    if PROPERTIES[text] is not None:
        assert read_property(str(file)) is PROPERTIES[text]
    else:
        with pytest.raises(UsageError, match="no property"):
            read_property(str(file))


@pytest.mark.parametrize("property_", Property)
def test_properties_have_names(property_):
    assert read_property(property_.value) is property_


def test_a_task_in_full(tmp_path):
    (tmp_path / "properties").mkdir()
    (tmp_path / "properties" / "custom.prp").write_text("CHECK( init(main()), LTL(F end) )\n", encoding="utf-8")
    (tmp_path / "c").mkdir()
    file = tmp_path / "c" / "t.yml"
    file.write_text(
        "format_version: '2.0'\n"
        "input_files: 'a.i'\n"
        "properties:\n"
        "  - property_file: ../properties/unreach-call.prp\n"
        "    expected_verdict: false\n"
        "  - property_file: ../properties/custom.prp\n"
        "    expected_verdict: true\n"
        "  - property_file: ../properties/no-overflow.prp\n"
        "  - property_file: ../properties/valid-memsafety.prp\n"
        "    expected_verdict: true\n"
        "options:\n  language: C\n  data_model: ILP32\n",
        encoding="utf-8",
    )
    task = read_task(file)
    assert task.files == (tmp_path / "c" / "a.i",)
    assert task.data_model == "ILP32"
    assert task.properties == {Property.UNREACH_CALL: False, Property.TERMINATION: True, Property.NO_OVERFLOW: None}


def test_a_task_of_several_files_without_options(tmp_path):
    file = tmp_path / "t.yml"
    file.write_text("input_files:\n  - a.c\n  - sub/b.c\n", encoding="utf-8")
    task = read_task(file)
    assert task.files == (tmp_path / "a.c", tmp_path / "sub" / "b.c")
    assert (task.data_model, task.properties) == (None, {})


def test_what_a_property_file_says_goes_before_its_name(tmp_path):
    (tmp_path / "termination.prp").write_text("CHECK( init(main()), LTL(G ! overflow) )\n", encoding="utf-8")
    (tmp_path / "unreach-call.prp").write_text("CHECK( init(main()), LTL(G ! call(other())) )\n", encoding="utf-8")
    file = tmp_path / "t.yml"
    names = ("termination", "unreach-call")
    entries = "".join(f"  - property_file: {name}.prp\n    expected_verdict: true\n" for name in names)
    file.write_text(f"input_files: a.c\nproperties:\n{entries}", encoding="utf-8")
    assert read_task(file).properties == {Property.NO_OVERFLOW: True}


@pytest.mark.parametrize(
    "text",
    ["", "- a\n", "text\n", "a: [\n", "input_files: 7\n", "input_files: []\n", "input_files: a.c\nproperties: 3\n", "{}\n",
     "input_files: {a: b}\n", "input_files: a.c\noptions: {data_model: [LP64]}\n"],
)  # fmt: skip
def test_what_is_no_task(tmp_path, text):
    file = tmp_path / "t.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError):
        read_task(file)


def test_bytes_that_are_no_text(tmp_path):
    file = tmp_path / "t.yml"
    file.write_bytes(b"\xff\xfe\x80")
    with pytest.raises(SourceError):
        read_task(file)
    prp = tmp_path / "p.prp"
    prp.write_bytes(b"\xff\xfe\x80")
    with pytest.raises(UsageError):
        read_property(str(prp))
