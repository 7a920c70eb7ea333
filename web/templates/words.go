package templates

import (
	"shardboard/web/words"
)

// t keeps the components readable; every sentence is in package words.
func T(key string, args ...string) string { return words.T(key, args...) }
