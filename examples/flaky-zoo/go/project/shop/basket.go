// Package shop is a tiny shop.
package shop

// Item is a price in cents and how many there are of it.
type Item struct {
	Price, Count int
}

// Total is what a basket costs.
func Total(items []Item) int {
	total := 0
	for _, item := range items {
		total += item.Price * item.Count
	}
	return total
}
