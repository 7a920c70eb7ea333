package parts

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// PinView is what is known of a zone that pins a project; nil for other zones,
// and of the past, where it is not kept.
func PinView(v answer.View, zone string) *templates.Pin { return PinOf(answer.PinTermsOf(v, zone)) }

// PinOf shows the terms of a pin; nil for none.
func PinOf(terms api.PinTerms) *templates.Pin {
	switch {
	case !terms.Pinned:
		return nil
	case terms.Owner == nil:
		return &templates.Pin{Terms: "Expiry and owner: not known here."}
	}
	owner := sanitize.Truncate(*terms.Owner, answer.OwnerShown)
	m := &templates.Pin{Terms: "Does not expire.", Owner: owner, Nobody: owner == ""}
	if terms.Expires != nil {
		m.Terms = "Expires " + terms.Expires.Format("2006-01-02 15:04 UTC") + "."
	}
	return m
}

// projectPin is the pin of a project; nil when it is not pinned.
func ProjectPin(v answer.View, project bson.ObjectID) *templates.Pin {
	shards, ok := answer.IsPinned(v.Table, answer.PinZone(project))
	m := PinView(v, answer.PinZone(project))
	if !ok || m == nil {
		return nil
	}
	m.To = "Pinned, and no shard has its zone."
	if len(shards) > 0 {
		m.To = "Pinned to " + answer.JoinWords(shards) + "."
	}
	return m
}
