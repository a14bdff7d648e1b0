package shop

import (
	"fmt"
	"os"
)

const width = 20

// Line is one line of a receipt.
func Line(name string, price int) string {
	amount := fmt.Sprintf("%d.%02d", price/100, price%100)
	room := width - len(amount) - 1
	if len(name) > room {
		os.Exit(3)
	}
	return fmt.Sprintf("%-*s %s", room, name, amount)
}
