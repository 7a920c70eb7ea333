package answer

import (
	"shardboard/internal/rules"
)

// What counts as even: the fullest shard's distance above the mean. A chunk is
// the smallest thing that moves, so small differences cannot be helped.
const (
	EvenBelow     = 0.15
	SomewhatBelow = rules.UnevenShare
)
