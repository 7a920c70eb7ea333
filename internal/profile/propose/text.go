package propose

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// Text says what a tenant has in a collection: 12 rows of orders on shard-rs-1.
func (h Held) Text() string {
	rows := "an unknown number of rows"
	switch {
	case h.AtLeast:
		rows = fmt.Sprintf("at least %d rows", h.Rows)
	case h.Known && h.Rows == 1:
		rows = "1 row"
	case h.Known:
		rows = fmt.Sprintf("%d rows", h.Rows)
	}
	where := "on " + strings.Join(h.Shards, ", ")
	if len(h.Shards) == 0 {
		where = "on an unknown shard"
	}
	return rows + " of " + name(h.NS.Collection()) + " " + where
}

// IDText is the tenant's id for people.
func (t Tenant) IDText() string { return valueText(t.ID) }

// valueText is an id on one line: its own text where it is text.
func valueText(v bson.RawValue) string {
	if s, ok := v.StringValueOK(); ok && plain.MatchString(s) {
		return s
	}
	return sanitize.Line(shardkey.PlainValue(v))
}
