package answer

import (
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/sanitize"
)

// writesNotCounted is why a collection that was asked for has no answer.
func WritesNotCounted(c heat.Coverage, known bool) error {
	if !known {
		return fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(c.NS), 200))
	}
	return fault.New(fault.NotFound, "The writes of %q are not counted: %s", sanitize.Truncate(string(c.NS), 200), UncountedText(c))
}
