package data

import (
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// DamageOf is the damage of a collection's routing table, its keys hidden where keys are.
func DamageOf(d *topology.Damage) *api.Damage {
	out := &api.Damage{Kind: string(d.Kind), Name: d.Kind.Inconsistency(), Since: d.Since.UTC(), Text: damageText(d), More: d.More,
		Places: []api.DamagedRange{}}
	if n := d.NoRoom; n != nil {
		out.Missing = &api.MissingChunks{Chunks: answer.PositiveOrNull(int64(n.Chunks)), Bytes: n.Bytes, Left: n.Left}
	}
	for _, r := range d.Places {
		place := api.DamagedRange{Shards: r.Shards}
		if !r.Min.IsZero() {
			place.Min, place.Max = answer.KeyOf(d.Key, r.Min), answer.KeyOf(d.Key, r.Max)
		}
		if place.Shards == nil {
			place.Shards = []string{}
		}
		out.Places = append(out.Places, place)
	}
	return out
}

// damageText says what is wrong without naming a key.
func damageText(d *topology.Damage) string {
	n := len(d.Places) + d.More
	switch d.Kind {
	case topology.DamageEmpty:
		return "It is listed as sharded and has not one chunk."
	case topology.DamageGap:
		return message.Plural(n, "No shard owns a range of its keys.", "No shard owns some ranges of its keys.")
	case topology.DamageOverlap:
		return message.Plural(n, "Several shards own a range of its keys.", "Some ranges of its keys have several owners or none.")
	case topology.DamageBound:
		return message.Plural(n, "A chunk has bounds that are no values of the shard key.",
			"Some chunks have bounds that are no values of the shard key.")
	}
	if d.NoRoom != nil {
		return d.Text
	}
	return "It has not been read yet."
}

// DamagedNotes is what withoutDamaged says, to stand beside a picture.
func DamagedNotes(t *topology.Table) []api.State {
	if text := withoutDamaged(t); text != "" {
		return []api.State{{Code: "partial", Title: "Not everything is here.", Detail: text}}
	}
	return nil
}

// withoutDamaged names the collections that lists and sums leave out because their routing table is damaged, and those
// shown as they were before; "" if there is none.
func withoutDamaged(t *topology.Table) string {
	var missing, old, unloaded []string
	for _, d := range t.Damaged {
		switch {
		case d.NoRoom != nil:
			unloaded = append(unloaded, string(d.NS))
		case t.Collection(d.NS) != nil:
			old = append(old, string(d.NS))
		case d.Kind != topology.DamageUnread:
			missing = append(missing, string(d.NS))
		}
	}
	text := ""
	if len(missing) > 0 {
		text = "Without " + answer.Few(missing) + ": " +
			message.Plural(len(missing), "its routing table is damaged.", "their routing tables are damaged.")
	}
	if len(old) > 0 {
		if text != "" {
			text += " "
		}
		text += "As before " + message.Plural(len(old), "its routing table was damaged: ", "their routing tables were damaged: ") +
			answer.Few(old) + "."
	}
	if len(unloaded) > 0 {
		text += " Not loaded, or as before, because memory is short: " + answer.Few(unloaded) + "."
	}
	return strings.TrimSpace(text)
}
