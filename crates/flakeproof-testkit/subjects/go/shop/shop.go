// Package shop is what TestTouches calls.
package shop

// Price is a price.
func Price() int {
	return 40
}
