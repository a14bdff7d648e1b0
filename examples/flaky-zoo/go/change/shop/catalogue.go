package shop

import (
	"strconv"
	"strings"
)

var rows = []string{"apple;0.40", "bread;2.50", "tea;3,20"}

var names []string

// Names are all names of the catalogue, parsed once and kept.
func Names() []string {
	if len(names) == 0 {
		for _, row := range rows {
			parts := strings.Split(row, ";")
			if _, err := strconv.ParseFloat(parts[1], 64); err != nil {
				panic(err)
			}
			names = append(names, parts[0])
		}
	}
	return names
}
