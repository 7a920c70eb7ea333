package heat

import (
	"shardboard/web/templates"
)

// heatColor is the shard's colour, or none.
func heatColor(s *templates.ShardRef) int {
	if s == nil {
		return 0
	}
	return s.Color
}
