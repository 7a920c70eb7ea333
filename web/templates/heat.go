package templates

// heatColor is the shard's colour, or none.
func heatColor(s *ShardRef) int {
	if s == nil {
		return 0
	}
	return s.Color
}
