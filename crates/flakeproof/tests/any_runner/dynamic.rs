//! RSpec, PHPUnit and CTest.

use std::process::Command;

use crate::{flakeproof, has, project, run};

#[test]
fn rspec_by_its_own_ids() {
    if !has("rspec", "rspec_by_its_own_ids") {
        return;
    }
    let spec = "RSpec.describe 'Math' do\n  it('adds') { expect(1 + 1).to eq 2 }\n  \
                it('fails') { expect(1).to eq 2 }\n  xit('later') { }\n  it('flaky') {\n    \
                seen = File.exist?('seen')\n    File.write('seen', '')\n    expect(seen).to be true\n  }\nend\n";
    let project = project().file("spec/a_spec.rb", spec);
    let ran = run(&project, &["rspec"]);
    assert_eq!(ran.outcome("a_spec.rb[1:1]"), "passed", "{}", ran.text());
    assert_eq!(ran.verdict("a_spec.rb[1:2]"), "unknown");
    assert_eq!(ran.outcome("a_spec.rb[1:3]"), "skipped");
    assert_eq!(ran.verdict("a_spec.rb[1:4]"), "flaky", "{}", ran.text());
}

#[test]
fn a_brittle_example_is_brittle_and_not_broken() {
    if !has("rspec", "a_brittle_example_is_brittle_and_not_broken") {
        return;
    }
    let spec = "RSpec.describe 'Session' do\n  it('logs in') { $session = :open }\n  \
                it('greets') { expect($session).to eq :open }\n  it('sounds') { }\n  \
                it('is broken') { expect(1).to eq 2 }\nend\n";
    let project = project().file("spec/a_spec.rb", spec);
    let options = ["--runs", "2", "--orders", "2", "--max-reruns", "2", "--seed", "7"];
    let ran = flakeproof(&project, "hunt", &options, &["rspec"]);
    assert_eq!(ran.test("a_spec.rb[1:2]")["kind"], "brittle", "{}", ran.text());
    assert!(ran.text().contains("SET ASIDE (1)"), "{}", ran.text());
    assert!(ran.text().contains("cannot be told to run its tests in another order"));
}

#[test]
fn phpunit_with_name_spaces_and_data_sets() {
    if !has("phpunit", "phpunit_with_name_spaces_and_data_sets") {
        return;
    }
    let class = "<?php\nnamespace App;\nfinal class FooTest extends \\PHPUnit\\Framework\\TestCase {\n  \
                 public function testPasses(): void { $this->assertTrue(true); }\n  \
                 /** @dataProvider numbers */\n  public function testData(int $x): void { $this->assertSame(1, $x); }\n  \
                 public static function numbers(): array { return ['one' => [1], 'two' => [2]]; }\n}\n";
    let project = project().file("tests/FooTest.php", class);
    let ran = run(&project, &["phpunit", "tests"]);
    assert_eq!(ran.outcome("App\\FooTest::testPasses"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("testData with data set \"one\""), "passed");
    assert_eq!(ran.verdict("testData with data set \"two\""), "unknown", "{}", ran.text());
}

#[test]
fn ctest_with_failing_and_missing_programs() {
    if !has("cmake", "ctest_with_failing_and_missing_programs") {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nenable_testing()\n\
                 add_test(NAME good COMMAND true)\nadd_test(NAME bad.one COMMAND false)\n\
                 add_test(NAME lost COMMAND no-such-program)\n";
    let project = project().file("CMakeLists.txt", lists);
    let made = Command::new("cmake").args(["-B", "build"]).current_dir(project.path()).output();
    assert!(made.is_ok_and(|output| output.status.success()));
    let ran = run(&project, &["ctest", "--test-dir", "build"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!((ran.outcome("good"), ran.outcome("bad.one")), ("passed", "failed"));
    assert_ne!(ran.verdict("bad.one"), "flaky");
    assert!(ran.text().contains(r"-R '^(bad\.one)$'"), "{}", ran.text());
}
