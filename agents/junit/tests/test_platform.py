"""The worker runs Jupiter and Vintage on the JUnit Platform."""

from suite import for_versions
from worker import outcomes

#: Versions in which dynamic tests cannot be kept from running while they are counted.
WITHOUT_SILENCE = ("jupiter5.4",)


class Platform:
    framework = "platform"

    def test_the_worker_says_who_it_is(self):
        framework = self.worker("Plain").hello["framework"]
        self.assertRegex(framework, "^JUnit Platform [0-9.]+, Jupiter [0-9.]+, JUnit 4")

    def test_every_outcome_is_told_from_the_others(self):
        worker = self.collected("Plain")
        ids = [test[0] for test in worker.tests if "exits" not in test[0]]
        ids.remove("demo.Plain#exhausts")
        results = {result["id"]: result for result in worker.run(ids)}
        self.assertEqual(
            {name: result["outcome"] for name, result in results.items()},
            {
                "Plain#passes": "passed",
                "Plain#fails(TestInfo)": "failed",
                "Plain#assumes": "skipped",
                "Plain#disabled": "skipped",
                "Plain#brokenBefore": "errored",
                "Plain#brokenAfter": "errored",
                "Plain#second": "passed",
                "Plain$Inner#deep": "passed",
            },
        )
        self.assertIn("not here", results["Plain#assumes"]["note"])
        self.assertEqual(results["Plain#disabled"]["note"], "not today")
        self.assertIn("out\nerr", results["Plain#passes"]["output"])
        failed = results["Plain#fails(TestInfo)"]
        self.assert_failure(failed, "failed", "call", "expected: <1>", "demo/Plain.java")
        before = results["Plain#brokenBefore"]
        self.assert_failure(before, "errored", "setup", "in before", "demo/Plain.java")
        after = results["Plain#brokenAfter"]
        self.assert_failure(after, "errored", "teardown", "in after", "demo/Plain.java")

    def test_a_class_is_set_up_once_for_tests_in_a_row_and_again_when_it_comes_back(self):
        worker = self.collected("Plain", "Ordered")
        order = ["Plain#second", "Plain#passes", "Ordered#a", "Plain#passes"]
        results = worker.run([f"demo.{each}" for each in order])
        self.assertEqual([result["id"] for result in results], order)
        around = ["open", "before", "second", "before", "passes", "close"]
        again = ["open", "before", "passes", "close"]
        self.assertEqual(worker.trace(), [*around, "open", "a", "close", *again])

    def test_nested_classes_share_the_set_up_of_their_outer_class(self):
        worker = self.collected("Plain")
        worker.run(["demo.Plain#passes", "demo.Plain$Inner#deep"])
        inner = ["before", "inner before", "deep"]
        self.assertEqual(worker.trace(), ["open", "before", "passes", *inner, "close"])

    def test_methods_run_in_any_order_even_against_the_order_of_their_class(self):
        worker = self.collected("Plain", "Ordered", "Many")
        self.assertEqual(
            [test[0] for test in worker.tests if "Ordered" in test[0]],
            ["demo.Ordered#c", "demo.Ordered#b", "demo.Ordered#a"],
        )
        for order in (
            ["Plain#passes", "Plain#second", "Plain$Inner#deep"],
            ["Plain$Inner#deep", "Plain#second", "Plain#passes"],
            ["Ordered#c", "Ordered#b", "Ordered#a"],
            ["Ordered#a", "Ordered#b", "Ordered#c"],
            ["Ordered#b", "Ordered#a", "Ordered#c"],
            ["Many#small(int)[2]", "Many#twice[1]", "Many#small(int)[1]", "Many#twice[2]"],
            ["Plain#passes", "Plain#passes"],
        ):
            results = worker.run([f"demo.{each}" for each in order])
            self.assertEqual([result["id"] for result in results], order)
            self.assertEqual({result["outcome"] for result in results}, {"passed"})

    def test_a_class_is_set_up_once_more_only_where_its_order_disagrees(self):
        worker = self.collected("Ordered")
        worker.run([f"demo.Ordered#{each}" for each in "bac"])
        # Jupiter 5.4 does not sort tests that are chosen one by one.
        again = [] if self.version == "jupiter5.4" else ["close", "open"]
        self.assertEqual(worker.trace(), ["open", "b", "a", *again, "c", "close"])

    def test_invocations_are_found_without_running_them(self):
        worker = self.collected("Many")
        names = [test[0].split("#")[1] for test in worker.tests]
        expected = ["small(int)[1]", "small(int)[2]", "small(int)[3]"]
        expected += ["arrays(String[], int[][])[1]", "sourceless(int)", "twice[1]", "twice[2]"]
        if self.version in WITHOUT_SILENCE:
            expected += ["factory"]
            self.assertEqual(worker.trace(), [])
        else:
            expected += ["factory[1]", "factory[2][1]", "factory[2][2]"]
            self.assertEqual(worker.trace(), ["before"])
        self.assertEqual(sorted(names), sorted(expected))

    def test_each_invocation_runs_alone(self):
        worker = self.collected("Many")
        for name, outcome, note in (
            ("small(int)[3]", "failed", "small 3"),
            ("arrays(String[], int[][])[1]", "passed", "arrays"),
            ("twice[2]", "passed", "twice"),
            ("factory[1]", "passed", "dynamic 1"),
            ("factory[2][1]", "passed", "dynamic 2.1"),
        ):
            if name.startswith("factory") and self.version in WITHOUT_SILENCE:
                continue
            worker.trace()
            results = worker.rerun(f"demo.Many#{name}")
            self.assertEqual(outcomes(results), {f"Many#{name}": outcome})
            self.assertEqual(worker.trace(), ["before", note])

    def test_a_factory_that_is_one_test_fails_if_one_of_its_tests_fails(self):
        worker = self.collected("Many")
        handle = next(test[1] for test in worker.tests if "factory" in test[0])
        whole = handle.split("/[dynamic")[0]
        worker.collect([{"id": "demo.Many#factory", "file": whole}])
        result = worker.run(["demo.Many#factory"])[0]
        self.assert_failure(result, "failed", "call", "dynamic", "demo/Many.java")

    def test_a_template_whose_source_is_broken_is_one_test_with_an_error(self):
        worker = self.collected("Many")
        result = worker.run(["demo.Many#sourceless(int)"])[0]
        self.assert_failure(result, "errored", "setup", "in the source", "demo/Many.java")

    def test_when_a_class_cannot_be_set_up_all_its_tests_are_errors(self):
        worker = self.collected("BrokenOpening")
        ids = ["demo.BrokenOpening#one", "demo.BrokenOpening$Inner#two"]
        for result in worker.run(ids):
            self.assert_failure(result, "errored", "setup", "in open", "demo/BrokenOpening.java")

    def test_when_a_class_cannot_be_torn_down_its_last_test_is_an_error(self):
        worker = self.collected("BrokenClosing")
        two, one = worker.run(["demo.BrokenClosing#two", "demo.BrokenClosing#one"])
        self.assertEqual(two["outcome"], "passed")
        self.assert_failure(one, "errored", "teardown", "in close", "demo/BrokenClosing.java")

    def test_a_class_that_is_off_or_whose_assumption_fails_skips_its_tests(self):
        worker = self.collected("Off", "AssumedOpening")
        names = [test[0] for test in worker.tests]
        expected = ["demo.AssumedOpening#one", "demo.Off#often", "demo.Off#one"]
        self.assertEqual(sorted(names), expected)
        results = {result["id"]: result for result in worker.run(names)}
        self.assertEqual({each["outcome"] for each in results.values()}, {"skipped"})
        self.assertEqual(results["Off#often"]["note"], "all of it")
        self.assertIn("no database", results["AssumedOpening#one"]["note"])

    def test_tags_and_methods_choose_tests(self):
        for settings, expected in (
            ({"groups": "fast"}, ["passes"]),
            ({"groups": "fast | broken-after"}, ["brokenAfter", "passes"]),
            ({"groups": "fast,broken-after"}, ["brokenAfter", "passes"]),
            ({"methods": ["demo.Plain#fails"]}, ["fails(TestInfo)"]),
            ({"methods": ["demo.Plain$*#*"]}, ["deep"]),
            ({"groups": "!fast", "methods": ["*#passes", "*#second"]}, ["second"]),
        ):
            with self.subTest(settings):
                worker = self.worker("Plain", "Old", **settings)
                names = [each.split("#")[1] for each in worker.collect() if "Plain" in each]
                self.assertEqual(sorted(names), expected)

    def test_vintage_tests_run_in_any_order(self):
        worker = self.collected("Old", "Plain")
        self.assertIn("demo.Old#one", [test[0] for test in worker.tests])
        order = ["Old#two", "Plain#second", "Old#one", "Old#two"]
        results = worker.run([f"demo.{each}" for each in order])
        self.assertEqual([result["id"] for result in results], order)
        self.assertEqual({result["outcome"] for result in results}, {"passed"})

    def test_known_tests_need_no_search(self):
        first = self.collected("Many", "Plain")
        ids = ["demo.Many#small(int)[3]", "demo.Plain$Inner#deep"]
        second = self.worker()
        second.collect(first.wanted(ids))
        found = outcomes(second.run(ids))
        self.assertEqual(found, {"Many#small(int)[3]": "failed", "Plain$Inner#deep": "passed"})
        self.assertEqual(second.bye(), 0)

    def test_an_unknown_test_is_an_error_and_the_others_run(self):
        worker = self.collected("Plain")
        known = worker.wanted(["demo.Plain#second", "demo.Plain#passes"])
        gone = {"id": "demo.Plain#gone", "file": known[0]["file"].replace("second", "gone")}
        lost = {"id": "Lost#x", "file": known[0]["file"].replace("demo.Plain", "Lost")}
        worker.collect([known[0], gone, known[1], lost])
        results = worker.run(["demo.Plain#second", gone["id"], known[1]["id"], lost["id"]])
        found = [result["outcome"] for result in results]
        self.assertEqual(found, ["passed", "errored", "passed", "errored"])
        self.assertEqual(results[1]["failure"]["phase"], "setup")

    def test_a_test_that_breaks_its_framework_fails_and_the_others_run(self):
        worker = self.collected("Plain")
        order = ["demo.Plain#second", "demo.Plain#exhausts", "demo.Plain#passes"]
        second, exhausts, passes = worker.run(order)
        self.assertEqual((second["outcome"], passes["outcome"]), ("passed", "passed"))
        self.assert_failure(exhausts, "failed", "call", "OutOfMemoryError: on purpose")

    def test_the_test_that_ends_the_jvm_has_begun(self):
        worker = self.collected("Plain")
        worker.order(["demo.Plain#second", "demo.Plain#exits", "demo.Plain#passes"])
        worker.tell(**{"do": "run", "from": 0, "attempt": 1, "measure": False})
        said = []
        while (message := worker.hear()) is not None:
            said.append((message["say"], worker.tests[message["test"]][0]))
        self.assertIn(("result", "demo.Plain#second"), said)
        self.assertEqual(said[-1], ("begins", "demo.Plain#exits"))
        self.assertEqual(worker.process.wait(timeout=60), 3)

    def test_parallel_execution_is_off(self):
        parameters = {
            "junit.jupiter.execution.parallel.enabled": "true",
            "junit.jupiter.execution.parallel.mode.default": "concurrent",
        }
        worker = self.collected("Ordered", parameters=parameters)
        worker.run([f"demo.Ordered#{each}" for each in "cba"])
        self.assertEqual(worker.trace(), ["open", "c", "b", "a", "close"])


class ClassTemplates:
    framework = "platform"

    def test_invocations_of_classes_are_found_and_run_in_any_order(self):
        worker = self.collected("Templates")
        self.assertEqual(worker.trace(), ["open"])
        names = [f"demo.Templates[{row}]#{name}" for row in (1, 2) for name in ("small", "other")]
        self.assertEqual(sorted(test[0] for test in worker.tests), sorted(names))
        results = worker.run([names[3], names[0], names[2]])
        self.assertEqual([each["outcome"] for each in results], ["passed", "passed", "failed"])
        trace = [each for each in worker.trace() if each != "open"]
        self.assertEqual(trace, ["other 2", "small 1", "small 2"])

    def test_invocations_in_order_share_one_set_up(self):
        worker = self.collected("Templates")
        ids = [test[0] for test in worker.tests]
        worker.trace()
        for order in (ids, [ids[1], ids[0], ids[3], ids[2]]):
            results = worker.run(order)
            self.assertEqual(["demo." + result["id"] for result in results], order)
            self.assertEqual(worker.trace().count("open"), 1)


for_versions(
    ["jupiter5.4", "jupiter5.6", "jupiter5.8", "jupiter5.10", "jupiter5.13", "jupiter6.0"],
    Platform,
    globals(),
)
for_versions(["jupiter5.13", "jupiter6.0"], ClassTemplates, globals())
