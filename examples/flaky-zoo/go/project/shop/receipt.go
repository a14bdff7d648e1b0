package shop

import "fmt"

const width = 20

// Line is one line of a receipt, cut to the paper's width.
func Line(name string, price int) string {
	amount := fmt.Sprintf("%d.%02d", price/100, price%100)
	room := width - len(amount) - 1
	if len(name) > room {
		name = name[:room]
	}
	return fmt.Sprintf("%-*s %s", room, name, amount)
}
