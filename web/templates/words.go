package templates

import "shardboard/web/words"

// t keeps the components readable; every sentence is in package words.
func t(key string, args ...string) string { return words.T(key, args...) }
