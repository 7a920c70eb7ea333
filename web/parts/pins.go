package parts

import (
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
