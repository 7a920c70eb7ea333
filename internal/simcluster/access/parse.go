package access

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// parseName reads a name: "x" on the command's database, or {<what>: "x", db: "y"}.
func parseName(v bson.RawValue, what, db string) (Name, error) {
	if s, ok := v.StringValueOK(); ok {
		return Name{s, db}, nil
	}
	if doc, ok := v.DocumentOK(); ok {
		name, hasName := value.Field(doc, what).StringValueOK()
		in, hasDB := value.Field(doc, "db").StringValueOK()
		if hasName && hasDB {
			return Name{name, in}, nil
		}
		return Name{}, status.Errorf(status.BadValue, "%s names must have string fields '%s' and 'db'", what, what)
	}
	return Name{}, status.Errorf(status.BadValue, "%s names must be either strings or objects", what)
}

// parseNames reads one name or an array of them, without repetitions.
func parseNames(v bson.RawValue, what, db string) ([]Name, error) {
	if v.Type != bson.TypeArray {
		n, err := parseName(v, what, db)
		return []Name{n}, err
	}
	var out []Name
	for item := range value.Items(v) {
		n, err := parseName(item, what, db)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out, nil
}

// parseRoles reads an array of roles; none when it is absent.
func parseRoles(r *engine.Request, key string) ([]Name, error) {
	v := r.Lookup(key)
	switch v.Type {
	case 0:
		return nil, nil
	case bson.TypeArray:
		return parseNames(v, "role", r.DB)
	}
	return nil, wrongType(r.Name+"."+key, "array")
}

func wrongType(field, want string) error {
	return status.Errorf(status.TypeMismatch, "BSON field '%s' is the wrong type, expected type '%s'", field, want)
}

// subject is the user or role that a command's first field names.
func subject(r *engine.Request) (Name, error) {
	s, ok := r.Lookup(r.Name).StringValueOK()
	switch {
	case !ok:
		return Name{}, wrongType(r.Name+"."+r.Name, "string")
	case s == "":
		return Name{}, status.Errorf(status.BadValue, "the name must not be empty")
	case r.DB == "local" || r.DB == externalDB && strings.HasSuffix(r.Name, "Role"):
		return Name{}, status.Errorf(status.BadValue, "Cannot create users or roles in the %s database", r.DB)
	}
	return Name{s, r.DB}, nil
}

// given reports whether a command has a field.
func given(r *engine.Request, key string) bool { return r.Lookup(key).Type != 0 }

func rolesArray(names []Name) bson.A {
	out := bson.A{}
	for _, n := range names {
		out = append(out, n.role())
	}
	return out
}
