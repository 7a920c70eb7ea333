package templates

import (
	"fmt"
	"net/url"
	"strings"

	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// matrixShade is the class of a cell.
func matrixShade(c spread.MatrixCell) string {
	switch {
	case c.Shade > 0:
		return fmt.Sprintf("q%d", c.Shade)
	case c.Zero:
		return "none"
	}
	return ""
}

// matrixDatabase is the part of a collection's name before the first dot, with it.
func matrixDatabase(r spread.MatrixRow) string {
	if db, _, ok := strings.Cut(r.Name, "."); ok && r.Kind == "collection" {
		return db + "."
	}
	return ""
}

// matrixEmpty says how many shards are left out of a list.
func matrixEmpty(r spread.MatrixRow) string {
	if len(r.Listed) == 0 {
		return "Nothing on any shard."
	}
	return message.Plural(r.Empty, "Nothing on 1 other shard.", "Nothing on "+format.Count(int64(r.Empty))+" other shards.")
}

// matrixZone names a zone in a cell: by the project that it is named after, if there is one.
func matrixZone(z api.ZoneName) string {
	if z.ProjectName != "" {
		return format.Middle(z.Kind+": "+z.ProjectName, 32)
	}
	return format.Middle(z.Zone, 32)
}

// ZoneURL is the place of a zone on the page of zones.
func ZoneURL(zone string) string { return "/zones#zone-" + url.PathEscape(zone) }
