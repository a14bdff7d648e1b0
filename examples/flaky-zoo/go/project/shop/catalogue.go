package shop

import "strings"

var rows = []string{"apple;0.40", "bread;2.50", "tea;3,20"}

var names []string

// Names are all names of the catalogue, parsed once and kept.
func Names() []string {
	if len(names) == 0 {
		for _, row := range rows {
			names = append(names, strings.Split(row, ";")[0])
		}
	}
	return names
}
