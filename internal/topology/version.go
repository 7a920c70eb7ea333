package topology

import (
	"cmp"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Compare orders versions by major, then minor.
func (v Version) Compare(o Version) int {
	if d := cmp.Compare(v.Major, o.Major); d != 0 {
		return d
	}
	return cmp.Compare(v.Minor, o.Minor)
}

// Less tells whether v is older than o.
func (v Version) Less(o Version) bool { return v.Compare(o) < 0 }

// IsZero tells whether there is no version: the server's begin at 1|0.
func (v Version) IsZero() bool { return v == Version{} }

// String is the server's own notation, major|minor.
func (v Version) String() string { return fmt.Sprintf("%d|%d", v.Major, v.Minor) }

// VersionOf reads config.chunks.lastmod, which has the type of a timestamp.
func VersionOf(t bson.Timestamp) Version { return Version{Major: t.T, Minor: t.I} }

// Timestamp is the form in which the server stores a version.
func (v Version) Timestamp() bson.Timestamp { return bson.Timestamp{T: v.Major, I: v.Minor} }
