package shop

// Cost is what it costs to send a parcel, in cents.
func Cost(grams int, country string) int {
	base := 900
	if country == "home" {
		base = 400
	}
	if grams > 2000 {
		base = 1500
	}
	return base + 100*(grams/1000)
}
