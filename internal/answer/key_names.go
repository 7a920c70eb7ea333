package answer

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// nameInSentence is how many bytes of a project's name stand beside a key.
const nameInSentence = 80

// notListed stands behind the id of a project that is not in the list: a deleted one, or one that is none.
const notListed = " (project not in the list)"

// ofKey ends the name of the fact that says whose a key is.
const ofKey = ".project"

// Own is a sentence of ours in the profile's words.
func (v View) Own(m message.Message) message.Message {
	m.Pattern = v.Profile.Words(m.Pattern)
	return m
}

// Named is a sentence in the profile's words, in which projects' names stand before the keys that hold their ids, and
// in the names of zones. Values for scripts stay as they are.
func (v View) Named(m message.Message) message.Message {
	m = v.Own(m)
	var k KeyProjects
	if ns, ok := m.Fact("ns"); ok {
		k = v.KeyProjects(v.Table.Collection(topology.Namespace(ns.Value)))
	} else {
		k.field = -1
	}
	var lower api.KeyProject
	for _, f := range m.Facts {
		switch f.Kind {
		case message.KindZone:
			if text := v.ZoneText(f.Value); f.Shown == "" && text != f.Value {
				f.Shown = text
				m = m.With(f)
			}
		case message.KindKey:
			p := k.inText(f, lower)
			if f.Name == "min" {
				lower = p
			}
			m = v.withProject(m, f, p)
		}
	}
	return m
}

// withProject puts a project before a key, unless the sentence names it already.
func (v View) withProject(m message.Message, key message.Fact, p api.KeyProject) message.Message {
	place := "{" + key.Name + "}"
	if p.Project == "" || !strings.Contains(m.Pattern, place) {
		return m
	}
	for _, f := range m.Facts {
		if f.Kind == message.KindProject && f.Value == p.Project || f.Name == key.Name+ofKey {
			return m
		}
	}
	if p.ProjectName == "" {
		if marked := place + v.Profile.Words(notListed); p.Unlisted && !strings.Contains(m.Pattern, marked) {
			m.Pattern = strings.Replace(m.Pattern, place, marked, 1)
		}
		return m
	}
	m.Pattern = strings.Replace(m.Pattern, place, "{"+key.Name+ofKey+"} ("+place+")", 1)
	return m.With(message.Project(key.Name+ofKey, p.Project, sanitize.Truncate(p.ProjectName, nameInSentence)))
}

// inText is the project of a key in a sentence. Sentences have keys as text, in one of two forms: values
// alone, or a document as mongosh writes it.
func (k KeyProjects) inText(f message.Fact, lower api.KeyProject) api.KeyProject {
	if k.field != 0 {
		return api.KeyProject{}
	}
	rest, plain := f.Value, true
	if opened, ok := strings.CutPrefix(f.Value, "{"); ok {
		plain = false
		if rest, ok = strings.CutPrefix(opened, k.key.Fields()[0].Name+`: ObjectId("`); !ok {
			return api.KeyProject{}
		}
	}
	const length = 2 * len(bson.ObjectID{})
	if len(rest) < length {
		return api.KeyProject{}
	}
	id, err := bson.ObjectIDFromHex(rest[:length])
	if rest = rest[length:]; err != nil || plain && rest != "" && !strings.HasPrefix(rest, ", ") {
		return api.KeyProject{}
	}
	begins := strings.Count(rest, "MinKey") == k.key.Len()-1
	if f.Name == "max" {
		return k.until(placement.ObjectIDValue(id), begins, lower)
	}
	return k.from(placement.ObjectIDValue(id), begins)
}

// BoundTextNamed is a lower bound with its project, for places that have only text.
func BoundTextNamed(k KeyProjects, p shardkey.Pattern, bound shardkey.Key) string {
	text := BoundText(p, bound)
	from, _ := k.Of(bound, shardkey.Key{})
	if from.ProjectName == "" {
		return text
	}
	return sanitize.Truncate(sanitize.Sentence(from.ProjectName), nameInSentence) + " (" + text + ")"
}
