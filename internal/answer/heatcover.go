package answer

import (
	"shardboard/internal/heat"
	"shardboard/web/words"
)

// shownUncounted bounds the list of those that are not: a cluster may have
// thousands of collections that no profile knows.
const ShownUncounted = 100

func UncountedText(c heat.Coverage) string { return words.Code("heat.not", string(c.Not), nil) }
