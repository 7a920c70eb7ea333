package templates

import "slices"

// inBar tells whether a page is in the bar of a phone; its menu has the others.
func inBar(code string) bool {
	return slices.Contains([]string{"overview", "locate", "projects", "activity", "clusters"}, code)
}
