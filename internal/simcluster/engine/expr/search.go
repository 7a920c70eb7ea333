package expr

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func searchOperators(name string) parser {
	switch name {
	case "$indexOfBytes", "$indexOfCP":
		return between(2, 4, evalIndexOf)
	case "$replaceOne", "$replaceAll":
		return parseReplace
	}
	return nil
}

// evalIndexOf finds a string within [start, end) of another; positions are
// bytes or code points, -1 means not found.
func evalIndexOf(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	points := name == "$indexOfCP"
	code := int32(40091)
	if points {
		code = 40093
	}
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeString {
		return missing(), status.Errorf(code, "%s requires a string as the first argument, found: %s", name, TypeName(args[0]))
	}
	if args[1].Type != bson.TypeString {
		return missing(), status.Errorf(code+1, "%s requires a string as the second argument, found: %s", name, TypeName(args[1]))
	}
	s, want := str(args[0]), str(args[1])
	length := len(s)
	if points {
		length = utf8.RuneCountInString(s)
	}
	limits := [2]int{0, length}
	for i, v := range args[2:] {
		at, err := position(name, [...]string{"starting", "ending"}[i], v)
		if err != nil {
			return missing(), err
		}
		limits[i] = at
	}
	start, end := limits[0], min(limits[1], length)
	if start > end {
		return value.Int32(-1), nil
	}
	if points {
		start, end = byteOffset(s, start), byteOffset(s, end)
	}
	at := strings.Index(s[start:end], want)
	if at < 0 {
		return value.Int32(-1), nil
	}
	at += start
	if points {
		at = utf8.RuneCountInString(s[:at])
	}
	return value.Int32(int32(at)), nil
}

func position(name, which string, v bson.RawValue) (int, error) {
	n, ok := number(v)
	if !ok {
		return 0, status.Errorf(40096, "%s requires an integral %s index, found a value of type: %s, with value: %s", name,
			which, TypeName(v), Text(v))
	}
	i, ok := n.index()
	if !ok {
		return 0, status.Errorf(40096, "%s requires an integral %s index, found a value of type: %s, with value: %s", name,
			which, TypeName(v), Text(v))
	}
	if i < 0 {
		return 0, status.Errorf(40097, "%s requires a nonnegative %s index, found: %d", name, which, i)
	}
	return i, nil
}

// byteOffset is where the n-th code point begins; n may be the count.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func parseReplace(c *compiler, name string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(51751, "%s requires an object as an argument, found: %s", name, TypeName(arg))
	}
	names := []string{"input", "find", "replacement"}
	args, err := c.named(arg, names, func(f string) error {
		return status.Errorf(51750, "%s found an unknown argument: %s", name, f)
	})
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		if args[i] == nil {
			return nil, status.Errorf([...]int32{51749, 51748, 51747}[i], "%s requires '%s' to be specified", name, n)
		}
	}
	return call{name, args, evalReplace}, nil
}

func evalReplace(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	isNull := false
	for i, v := range args {
		if nullish(v) {
			isNull = true
		} else if v.Type != bson.TypeString {
			return missing(), status.Errorf([...]int32{51746, 51745, 51744}[i], "%s requires that '%s' be a string, found: %s",
				name, [...]string{"input", "find", "replacement"}[i], Text(v))
		}
	}
	if isNull {
		return value.Null(), nil
	}
	n := -1
	if name == "$replaceOne" {
		n = 1
	}
	return value.String(strings.Replace(str(args[0]), str(args[1]), str(args[2]), n)), nil
}
