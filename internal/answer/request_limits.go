package answer

import "time"

// Limits of a request.
const (
	RequestWait  = 20 * time.Second // for a whole answer, reads included
	MaxPathParam = 512              // bytes; MongoDB's own names end at 255
	MaxBody      = 64 << 10
	MaxLocate    = 256 << 10 // the body of POST locate
)
