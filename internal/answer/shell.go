package answer

import (
	"time"
)

// decisionsWait bounds the read of which problems are dismissed, from our own store.
const DecisionsWait = 2 * time.Second
