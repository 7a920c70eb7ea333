// Package lab has the pages that compute and change nothing.
package lab

import (
	"slices"

	"shardboard/web/site"
)

// Routes of the lab.
var Routes = slices.Concat(site.Table(growthRoutes...))
