//! Runners of Python, Go, PHP, Ruby and Perl, and build tools that write reports: Maven and CTest.

use crate::{has, holds, project, ran};

#[test]
fn pytest_in_both_families() {
    let body = "import pytest\n\n\
        class TestB:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_x(self, n):\n        pass\n\n\
        def test_fails():\n    assert 1 == 2\n\n\
        @pytest.fixture\ndef broken():\n    raise ValueError('no')\n\n\
        def test_errors(broken):\n    pass\n\n\
        @pytest.mark.skip\ndef test_later():\n    pass\n\n\
        @pytest.mark.xfail\ndef test_expected():\n    assert False\n";
    for family in ["xunit1", "xunit2"] {
        let project = project().file("tests/test_a.py", body).file("pytest.ini", "[pytest]\n");
        let (python, option) = (project.python(), format!("junit_family={family}"));
        let pytest = [&python, "-m", "pytest", "--junitxml=out.xml", "-o", &option];
        let said = ran(&project, &pytest);
        assert!(said.contains("1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error"), "{said}");
        let ids = ["tests/test_a.py::TestB::test_x[1]", "tests/test_a.py::test_fails"];
        holds(&project, "out.xml", [2, 2, 0, 2], &ids);
    }
}

#[test]
fn gotestsum_and_go_itself() {
    if !has("go", "gotestsum_and_go_itself") {
        return;
    }
    let body = "package web\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n\
        func TestAdds(t *testing.T) {}\n\
        func TestFails(t *testing.T) { t.Fatal(\"boom\") }\n\
        func TestLater(t *testing.T) { t.Skip() }\n\
        func TestRows(t *testing.T) { t.Run(\"one\", func(t *testing.T) {}) }\n\
        func TestFlaky(t *testing.T) {\n\tif _, err := os.Stat(\"seen\"); err != nil {\n\
        \t\tos.WriteFile(\"seen\", nil, 0o644)\n\t\tt.Fatal(\"once\")\n\t}\n}\n";
    let project = project()
        .file("go.mod", "module example.com/acme/web\n\ngo 1.19\n")
        .file("web_test.go", body);
    let said = ran(&project, &["go", "test", "-json", "./..."]);
    project.write("go.json", &said);
    holds(&project, "go.json", [3, 2, 0, 1], &["example.com/acme/web.TestRows/one"]);

    std::fs::remove_file(project.path().join("seen")).expect("the test wrote it");
    let tool = ["go", "run", "gotest.tools/gotestsum@v1.13.0", "--junitfile", "gotestsum.xml"];
    let said = ran(&project, &[&tool[..], &["--rerun-fails=1", "--packages=./..."]].concat());
    if !project.path().join("gotestsum.xml").exists() {
        flakeproof_testkit::skipped::note("gotestsum_and_go_itself", "gotestsum cannot be had");
        return;
    }
    assert!(said.contains("TestFlaky"), "{said}");
    let run = crate::ingested(&project, &["gotestsum.xml"]);
    assert_eq!(crate::counts(&run), [3, 1, 1, 1], "{run:#}\n{said}");
}

#[test]
fn phpunit_with_data_sets() {
    if !has("phpunit", "phpunit_with_data_sets") {
        return;
    }
    let body = "<?php\nuse PHPUnit\\Framework\\TestCase;\n\
        final class SumTest extends TestCase {\n\
        public function testAdds(): void { $this->assertSame(2, 1 + 1); }\n\
        public function testFails(): void { $this->assertSame(3, 1 + 1); }\n\
        public function testLater(): void { $this->markTestSkipped('later'); }\n\
        public static function rows(): array { return [[1], [2]]; }\n\
        /** @dataProvider rows */\n\
        public function testRow(int $n): void { $this->assertGreaterThan(0, $n); }\n}\n";
    let project = project().file("tests/SumTest.php", body);
    let said = ran(&project, &["phpunit", "--log-junit", "phpunit.xml", "tests"]);
    assert!(said.contains("Tests: 5"), "{said}");
    holds(&project, "phpunit.xml", [3, 1, 0, 1], &["SumTest::testAdds"]);
}

#[test]
fn rspec_by_its_json() {
    if !has("rspec", "rspec_by_its_json") {
        return;
    }
    let body = "RSpec.describe 'Sum' do\n  it('adds') { expect(1 + 1).to eq 2 }\n  \
        it('fails') { expect(1 + 1).to eq 3 }\n  xit('later') {}\nend\n";
    let project = project().file("spec/sum_spec.rb", body);
    let said =
        ran(&project, &["rspec", "--format", "progress", "--format", "json", "-o", "r.json"]);
    assert!(said.contains("3 examples, 1 failure, 1 pending"), "{said}");
    holds(&project, "r.json", [1, 1, 0, 1], &["./spec/sum_spec.rb[1:1]"]);
}

#[test]
fn tap_of_perl() {
    if !has("perl", "tap_of_perl") {
        return;
    }
    let body = "use Test::More tests => 4;\nok(1, 'adds');\nok(0, 'fails');\n\
        SKIP: { skip 'later', 1; }\nsubtest 'inner' => sub { plan tests => 1; ok(1, 'deep'); };\n";
    let project = project().file("t/sum.t", body);
    let said = ran(&project, &["sh", "-c", "perl t/sum.t > sum.tap"]);
    assert!(said.contains("Looks like you failed 1 test of 4"), "{said}");
    holds(&project, "sum.tap", [2, 1, 0, 1], &["adds", "inner > deep"]);
}

const SUM: &str = "package com.acme;\n\nimport org.junit.jupiter.api.*;\n\
    import org.junit.jupiter.params.ParameterizedTest;\n\
    import org.junit.jupiter.params.provider.ValueSource;\n\n\
    class SumTest {\n  static int runs;\n\n  @Test void adds() {}\n\
    @Test void fails() { Assertions.assertEquals(3, 1 + 1); }\n\
    @Test void flaky() { Assertions.assertEquals(2, ++runs); }\n\
    @Test @Disabled void later() {}\n\
    @ParameterizedTest @ValueSource(ints = {1, 2}) void row(int n) {}\n}\n";

fn pom(surefire: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>com.acme</groupId><artifactId>sum</artifactId><version>1</version>\
         <properties><maven.compiler.source>17</maven.compiler.source>\
         <maven.compiler.target>17</maven.compiler.target>\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\
         <dependencies><dependency><groupId>org.junit.jupiter</groupId>\
         <artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope>\
         </dependency></dependencies><build><plugins><plugin>\
         <artifactId>maven-surefire-plugin</artifactId><version>{surefire}</version>\
         <configuration><rerunFailingTestsCount>1</rerunFailingTestsCount></configuration>\
         </plugin></plugins></build></project>\n"
    )
}

#[test]
fn surefire_with_tests_that_it_repeats() {
    if !has("mvn", "surefire_with_tests_that_it_repeats") {
        return;
    }
    let project =
        project().file("pom.xml", &pom("3.2.5")).file("src/test/java/com/acme/SumTest.java", SUM);
    let said = ran(&project, &["mvn", "-B", "-o", "test"]);
    let said = match said.contains("Tests run:") {
        true => said,
        // What is not on this machine yet comes from the network.
        false => ran(&project, &["mvn", "-B", "test"]),
    };
    assert!(said.contains("Failures: 1, Errors: 0, Skipped: 1, Flakes: 1"), "{said}");
    let ids = ["com.acme.SumTest#adds", "com.acme.SumTest#flaky", "com.acme.SumTest#row(int)[1]"];
    holds(&project, "target/surefire-reports", [3, 1, 1, 1], &ids);
}

#[test]
fn ctest_by_its_own_junit() {
    if !has("ctest", "ctest_by_its_own_junit") || !has("cmake", "ctest_by_its_own_junit") {
        return;
    }
    let list = "cmake_minimum_required(VERSION 3.20)\nproject(sum NONE)\nenable_testing()\n\
        add_test(NAME adds COMMAND true)\nadd_test(NAME fails COMMAND false)\n\
        add_test(NAME later COMMAND true)\nset_tests_properties(later PROPERTIES DISABLED TRUE)\n";
    let project = project().file("CMakeLists.txt", list);
    ran(&project, &["cmake", "-S", ".", "-B", "build"]);
    let ctest = ["ctest", "--test-dir", "build", "--output-junit", "ctest.xml"];
    let said = ran(&project, &ctest);
    assert!(said.contains("1 tests failed out of 2"), "{said}");
    holds(&project, "build/ctest.xml", [1, 1, 0, 1], &["adds"]);
}
