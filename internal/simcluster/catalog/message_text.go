package catalog

import (
	"encoding/hex"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// text formats a document as in the server's messages: "{ p: ObjectId('…'), k: 5 }".
func text(doc bson.Raw) string { return value.Text(value.Doc(doc)) }

// rangeText formats a range as "[{ min }, { max })".
func rangeText(lo, hi bson.Raw) string { return "[" + text(lo) + ", " + text(hi) + ")" }

func uuidText(u [16]byte) string {
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// versionText is a collection version in messages: "1|5||<epoch>||Timestamp(t, i)".
func versionText(v bson.Timestamp, epoch bson.ObjectID, at bson.Timestamp) string {
	return fmt.Sprintf("%d|%d||%s||Timestamp(%d, %d)", v.T, v.I, epoch.Hex(), at.T, at.I)
}

// logTime is the date inside a change log id.
func logTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-07:00") }
