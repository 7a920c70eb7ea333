package topology

import "time"

// OpenCursor is a cursor that stands open on a shard: a query whose rows have not all been fetched. The range deleter
// waits for those of a collection that were opened before a range left.
type OpenCursor struct {
	Shard   string
	NS      Namespace
	ID      int64 // on the shard
	Session SessionID
	App     string    // the name that its program gave itself; hostile text; "": none
	Client  string    // host that its program runs on, as the mongos saw it; hostile text; "": not told
	Opened  time.Time // by the shard's clock
	Used    time.Time // last; zero: not told
}

// SessionID is the id of a logical session. ID is a UUID of 16 bytes, User the SHA-256 of its user; both are "" for
// a cursor without a session.
type SessionID struct{ ID, User string }
