package shop

var offers = []func(int) int{func(price int) int { return price * 95 / 100 }}

// BestPrice is the lowest price any offer gives.
func BestPrice(price int) int {
	for _, offer := range offers {
		if reduced := offer(price); reduced < price {
			price = reduced
		}
	}
	return price
}
