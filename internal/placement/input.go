package placement

import (
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement/ids"
)

// Form is what a text was understood as.
type Form string

// The forms of a question.
const (
	FormProject     Form = "project"     // a project's name, id or public key
	FormDocumentKey Form = "documentKey" // <project>/<document key>
	FormDashboard   Form = "dashboard"   // an address of Yorkie's dashboard
	FormReference   Form = "reference"   // <project id>.<id>, as Yorkie logs it
	FormID          Form = "id"          // an ObjectID
	FormUUID        Form = "uuid"
	FormShardKey    Form = "shardKey" // a shard-key value and its collection
	FormValue       Form = "value"    // a number or a date, which names nothing by itself
	// The text of a wider search.
	FormKeyInProjects   Form = "keyInProjects"
	FormIDInCollections Form = "idInCollections"
)

// Label describes the form in a few words.
func (f Form) Label() string {
	switch f {
	case FormProject:
		return "a project’s name, id or public key"
	case FormDocumentKey:
		return "project/document key"
	case FormDashboard:
		return "an address of Yorkie’s dashboard (only parsed, never opened)"
	case FormReference:
		return "a reference as Yorkie logs it: project id and row id"
	case FormID:
		return "an id"
	case FormUUID:
		return "a UUID"
	case FormShardKey:
		return "a shard-key value"
	case FormValue:
		return "a value"
	case FormKeyInProjects:
		return "a document key, searched in all projects"
	case FormIDInCollections:
		return "an _id, searched in all sharded collections"
	}
	return string(f)
}

// Reading is one way to understand a text.
type Reading struct {
	Form      Form
	Project   string        // name, id or public key, of documentKey and dashboard
	Key       string        // of a Yorkie document; "" when an address names the project only
	ProjectID bson.ObjectID // of reference
	ID        bson.ObjectID // of id and reference
	Kind      string        // of reference: document, client, or "" when it does not say; of value: in words
	UUID      ids.UUID
}

// Input is a text understood: every reading that it can have, the likeliest
// first. What a project's name can be is not asked here: any text can be one.
type Input struct {
	Readings []Reading
	// KeyShaped: a word of the text looks like a project's public or secret
	// key. Unless a project is found by it, it must not be repeated.
	KeyShaped bool
	// ProjectKeyShaped: that word stands where a project's name or key does.
	ProjectKeyShaped bool
}

// maxReferences bounds the references taken from one text: a log line has one
// or two.
const maxReferences = 10

// The forms in which Yorkie writes references (its types.DocRefKey and
// ClientRefKey), and shells write ObjectIDs.
var (
	namedReference = regexp.MustCompile(`\b(Document|Client) \(([0-9a-fA-F]{24})\.([0-9a-fA-F]{24})\)`)
	plainReference = regexp.MustCompile(`\b([0-9a-fA-F]{24})\.([0-9a-fA-F]{24})\b`)
	objectIDCall   = regexp.MustCompile(`^(?:ObjectId\(\s*["']([0-9a-fA-F]{24})["']\s*\)|\{\s*"\$oid"\s*:\s*"([0-9a-fA-F]{24})"\s*\})$`)
)

// ReadInput understands a trimmed text. It looks nothing up. The error,
// fault.Invalid, is about an address whose escapes cannot be undone; every
// other text has a reading.
func ReadInput(text string) (Input, error) {
	in := Input{KeyShaped: hasKeyShaped(text)}
	if refs := references(text); len(refs) > 0 {
		in.Readings = refs
		return in, nil
	}
	if u, ok := ids.ParseUUID(text); ok {
		in.Readings = []Reading{{Form: FormUUID, UUID: u}}
		return in, nil
	}
	if id, ok := objectID(text); ok {
		in.Readings = []Reading{{Form: FormID, ID: id}}
		return in, nil
	}
	fromAddress, whole, err := addressReadings(text)
	if err != nil {
		return in, err
	}
	in.Readings = append(in.Readings, fromAddress...)
	if project, key, ok := strings.Cut(text, "/"); ok && !whole {
		in.Readings = append(in.Readings, Reading{Form: FormDocumentKey, Project: strings.TrimSpace(project), Key: key})
	}
	if len(in.Readings) == 0 {
		in.Readings = []Reading{{Form: FormProject, Project: text}}
		if v, ok := ReadValue(text); ok && !in.KeyShaped {
			in.Readings = append(in.Readings, Reading{Form: FormValue, Kind: v.Kind})
		}
	}
	in.ProjectKeyShaped = slices.ContainsFunc(in.Readings, func(r Reading) bool { return keyShaped(r.Project) })
	in.KeyShaped = in.KeyShaped || in.ProjectKeyShaped // escapes can hide the shape
	return in, nil
}

// objectID reads 24 hex digits, alone or as shells and Extended JSON wrap them.
func objectID(text string) (bson.ObjectID, bool) {
	if m := objectIDCall.FindStringSubmatch(text); m != nil {
		text = m[1] + m[2]
	}
	id, err := bson.ObjectIDFromHex(text)
	return id, err == nil
}

// references finds those that say their kind anywhere in the text, else plain
// ones: alone, or among the words of a longer text.
func references(text string) []Reading {
	var out []Reading
	add := func(kind, project, id string) {
		p, perr := bson.ObjectIDFromHex(project)
		i, ierr := bson.ObjectIDFromHex(id)
		r := Reading{Form: FormReference, ProjectID: p, ID: i, Kind: strings.ToLower(kind)}
		if perr == nil && ierr == nil && len(out) < maxReferences && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, m := range namedReference.FindAllStringSubmatch(text, -1) {
		add(m[1], m[2], m[3])
	}
	if len(out) > 0 || len(text) > 49 && !strings.ContainsAny(text, " \t") {
		return out // 49: longer texts without blanks are keys that hold such a thing
	}
	for _, m := range plainReference.FindAllStringSubmatch(text, -1) {
		add("", m[1], m[2])
	}
	return out
}

// keyLength is that of Yorkie's project keys, 128 random bits in base 57.
const keyLength = 22

// keyShaped tells whether a whole word looks like a project's key. Letters
// that the alphabet leaves out are not asked for: one typing error must not
// make a secret fit to be repeated.
func keyShaped(word string) bool {
	return len(word) == keyLength && strings.IndexFunc(word, func(r rune) bool { return !alphanumeric(r) }) < 0
}

func hasKeyShaped(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !alphanumeric(r) }) {
		if len(word) == keyLength {
			return true
		}
	}
	return false
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
