package x

import "testing"

type S struct{ suite.Suite }

func helper[T any](t *testing.T) {}
func TestA(t *testing.T) {
	helper(t)
	t.Run("sub", func(t *testing.T) {})
}
func (s *S) SetupTest() {}
func (s *S) TestB() { s.help(); helper(nil) }
func (s G[T]) TestC() {}
func FuzzX(f *testing.F) {}
func TestMain(m *testing.M) {}
func ExampleA() {
	// Output: x
}
