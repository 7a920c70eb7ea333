package query

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// application is the state of one update of one document.
type application struct {
	update   *Update
	doc      bson.Raw // before
	tree     *tree    // now
	filter   *Filter
	position int // index for "$"
	located  bool
}

// targets turns a modifier's path into concrete ones: "$" into the position of the match, "$[]" and
// "$[id]" into the indexes of the array's elements.
func (a *application) targets(m *modifier) ([][]string, error) {
	if !slices.ContainsFunc(m.path, isPositional) {
		return [][]string{m.path}, nil
	}
	found := [][]string{nil}
	for _, part := range m.path {
		var next [][]string
		for _, prefix := range found {
			parts, err := a.resolve(m, prefix, part)
			if err != nil {
				return nil, err
			}
			for _, p := range parts {
				next = append(next, append(slices.Clip(prefix), p))
			}
		}
		found = next
	}
	return found, nil
}

func (a *application) resolve(m *modifier, prefix []string, part string) ([]string, error) {
	switch {
	case part == "$":
		i, err := a.matched()
		return []string{strconv.Itoa(i)}, err
	case !isPositional(part):
		return []string{part}, nil
	}
	array := a.tree.get(prefix)
	at := strings.Join(prefix, ".")
	switch {
	case array.Type == 0:
		return nil, status.Errorf(status.BadValue, "The path '%s' must exist in the document in order to apply array updates.", at)
	case array.Type != bson.TypeArray:
		return nil, status.Errorf(status.BadValue, "Cannot apply array updates to non-array element %s: %s",
			prefix[len(prefix)-1], value.Text(array))
	}
	id := part[2 : len(part)-1]
	var wanted *Filter
	if id != "" {
		if wanted = a.update.filters[id]; wanted == nil {
			return nil, status.Errorf(status.BadValue, "No array filter found for identifier '%s' in path '%s'", id, m.name)
		}
	}
	var parts []string
	i := 0
	for item := range value.Items(array) {
		ok, err := wanted.Match(value.NewBuilder(len(item.Value)+16).Append(id, item).Raw())
		if err != nil {
			return nil, err
		}
		if ok {
			parts = append(parts, strconv.Itoa(i))
		}
		i++
	}
	return parts, nil
}

// matched is the array index the filter matched at, found once.
func (a *application) matched() (int, error) {
	if !a.located {
		a.located, a.position = true, -1
		if a.filter != nil {
			_, position, err := a.filter.MatchPosition(a.doc)
			if err != nil {
				return 0, err
			}
			a.position = position
		}
	}
	if a.position < 0 {
		return 0, status.Errorf(status.BadValue, "The positional operator did not find the match needed from the query.")
	}
	return a.position, nil
}

// source is the value that $rename moves; neither path may lead through an array.
func (a *application) source(from []string) (bson.RawValue, error) {
	for n := 1; n < len(from); n++ {
		if v := a.tree.get(from[:n]); v.Type == bson.TypeArray {
			return v, status.Errorf(status.BadValue,
				"The source field cannot be an array element, '%s' in doc with %s has an array field called '%s'",
				strings.Join(from, "."), a.idText(), from[n-1])
		}
	}
	v, _ := value.Lookup(a.doc, strings.Join(from, "."))
	return v, nil
}

// idText is "_id: 1", for messages about the document.
func (a *application) idText() string {
	return "_id: " + value.Text(value.Field(a.doc, "_id"))
}

// arrayFilters compiles the statement's filters by identifier: {"x.n": 1} is about "x".
func (u *Update) arrayFilters() error {
	u.filters = map[string]*Filter{}
	for _, doc := range u.options.ArrayFilters {
		id := ""
		for name := range value.Elements(doc) {
			first, _, _ := strings.Cut(name, ".")
			switch {
			case strings.HasPrefix(name, "$"):
				id = identifierWithin(doc)
			case id != "" && id != first:
				return status.Errorf(status.FailedToParse,
					"Error parsing array filter :: caused by :: Expected a single top-level field name, found '%s' and '%s'", id, first)
			default:
				id = first
			}
		}
		switch {
		case id == "":
			return status.Errorf(status.FailedToParse, "Cannot use an expression without a top-level field name in arrayFilters")
		case u.filters[id] != nil:
			return status.Errorf(status.FailedToParse, "Found multiple array filters with the same top-level field name %s", id)
		}
		f, err := Parse(doc, u.options.Env)
		if err != nil {
			return err
		}
		u.filters[id] = f
	}
	return nil
}

// identifierWithin finds the identifier inside {$or: [{x: 1}, …]}.
func identifierWithin(doc bson.Raw) string {
	for name, v := range value.Elements(doc) {
		if !strings.HasPrefix(name, "$") {
			first, _, _ := strings.Cut(name, ".")
			return first
		}
		for item := range value.Items(v) {
			if id := identifierWithin(item.Value); id != "" {
				return id
			}
		}
	}
	return ""
}

func (u *Update) unusedFilters(doc bson.Raw) error {
	for id := range u.filters {
		used := slices.ContainsFunc(u.modifiers, func(m *modifier) bool { return slices.Contains(m.path, "$["+id+"]") })
		if !used {
			return status.Errorf(status.FailedToParse, "The array filter for identifier '%s' was not used in the update %s",
				id, value.Text(value.Doc(doc)))
		}
	}
	return nil
}
