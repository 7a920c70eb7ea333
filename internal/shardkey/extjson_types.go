package shardkey

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// isWrapperName reports whether Extended JSON v2 uses this name to write a type.
func isWrapperName(name string) bool {
	switch name {
	case "$oid", "$symbol", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal",
		"$binary", "$uuid", "$code", "$scope", "$timestamp", "$regularExpression",
		"$dbPointer", "$ref", "$id", "$date", "$minKey", "$maxKey", "$undefined":
		return true
	}
	return false
}

// unwrap replaces the document at start, such as {"$oid": "…"}, with the value that it
// represents.
func unwrap(dst []byte, start int) (bson.Type, []byte, error) {
	doc := slices.Clone(dst[start:])
	dst = dst[:start]
	rest, err := elementsOf(doc)
	if err != nil {
		return 0, nil, err
	}
	var fields []element
	for len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err != nil {
			return 0, nil, err
		}
		fields = append(fields, e)
	}
	switch {
	case shape(fields, "$ref", "$id"):
		// A DBRef, which is an ordinary document, or the content of a $dbPointer, which is
		// decoded there.
		return bson.TypeEmbeddedDocument, append(dst, doc...), nil
	case shape(fields, "$code", "$scope"):
		return appendCodeWithScope(dst, fields)
	case len(fields) != 1:
		return 0, nil, fault.New(fault.Invalid, "%q writes a type of Extended JSON and cannot stand beside other fields.", dollarName(fields))
	}
	e := fields[0]
	t, out, ok := appendWrapped(dst, string(e.name), e)
	if !ok {
		return 0, nil, fault.New(fault.Invalid, "The value of %q is not one that Extended JSON can have there; canonical "+
			"Extended JSON looks like %s.", e.name, wrapperExample(string(e.name)))
	}
	return t, out, nil
}

// shape reports whether these are the fields, in any order, and sorts them into this
// order.
func shape(fields []element, first, second string) bool {
	if len(fields) != 2 {
		return false
	}
	if string(fields[0].name) == second {
		fields[0], fields[1] = fields[1], fields[0]
	}
	return string(fields[0].name) == first && string(fields[1].name) == second
}

func dollarName(fields []element) string {
	for _, e := range fields {
		if strings.HasPrefix(string(e.name), "$") {
			return string(e.name)
		}
	}
	return ""
}

func wrapperExample(name string) string {
	switch name {
	case "$binary":
		return `{"$binary": {"base64": "AQID", "subType": "00"}}`
	case "$date":
		return `{"$date": {"$numberLong": "1700000000000"}}`
	case "$timestamp":
		return `{"$timestamp": {"t": 1, "i": 2}}`
	case "$regularExpression":
		return `{"$regularExpression": {"pattern": "a", "options": "i"}}`
	case "$oid":
		return `{"$oid": "507f1f77bcf86cd799439011"}`
	case "$uuid":
		return `{"$uuid": "3b241101-e2bb-4255-8caf-4136c566a962"}`
	case "$minKey", "$maxKey":
		return `{"` + name + `": 1}`
	case "$dbPointer":
		return `{"$dbPointer": {"$ref": "db.collection", "$id": {"$oid": "507f1f77bcf86cd799439011"}}}`
	case "$undefined":
		return `{"$undefined": true}`
	}
	return `{"` + name + `": "1"}`
}

// appendWrapped appends the value of a wrapper with one field.
func appendWrapped(dst []byte, name string, e element) (bson.Type, []byte, bool) {
	le := binary.LittleEndian
	s, isString := stringOf(e)
	switch name {
	case "$oid":
		id, err := hex.DecodeString(s)
		return bson.TypeObjectID, append(dst, id...), isString && err == nil && len(id) == 12
	case "$symbol":
		return bson.TypeSymbol, append(dst, e.value...), isString
	case "$code":
		return bson.TypeJavaScript, append(dst, e.value...), isString
	case "$numberInt":
		v, err := strconv.ParseInt(s, 10, 32)
		return bson.TypeInt32, le.AppendUint32(dst, uint32(v)), isString && err == nil
	case "$numberLong":
		v, err := strconv.ParseInt(s, 10, 64)
		return bson.TypeInt64, le.AppendUint64(dst, uint64(v)), isString && err == nil
	case "$numberDouble":
		v, ok := parseDouble(s)
		return bson.TypeDouble, le.AppendUint64(dst, math.Float64bits(v)), isString && ok
	case "$numberDecimal":
		// Canonical text has at most 42 characters; the limit avoids expensive big integer
		// arithmetic.
		if !isString || len(s) > 100 {
			return 0, nil, false
		}
		v, err := bson.ParseDecimal128(s)
		hi, lo := v.GetBytes()
		return bson.TypeDecimal128, le.AppendUint64(le.AppendUint64(dst, lo), hi), err == nil
	case "$minKey":
		return bson.TypeMinKey, dst, isOne(e)
	case "$maxKey":
		return bson.TypeMaxKey, dst, isOne(e)
	case "$undefined":
		return bson.TypeUndefined, dst, e.typ == bson.TypeBoolean && e.value[0] == 1
	case "$date":
		ms, ok := dateOf(e)
		return bson.TypeDateTime, le.AppendUint64(dst, uint64(ms)), ok
	case "$uuid":
		id, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
		return bson.TypeBinary, appendBinary(dst, bson.TypeBinaryUUID, id), isString && err == nil && len(id) == 16
	case "$binary":
		return appendWrappedBinary(dst, e)
	case "$timestamp":
		f, ok := fieldsOf(e, "t", "i")
		t, okT := uint32Of(f[0])
		i, okI := uint32Of(f[1])
		return bson.TypeTimestamp, le.AppendUint32(le.AppendUint32(dst, i), t), ok && okT && okI
	case "$regularExpression":
		f, ok := fieldsOf(e, "pattern", "options")
		pattern, okP := stringOf(f[0])
		options, okO := stringOf(f[1])
		ok = ok && okP && okO && !strings.Contains(pattern+options, "\x00")
		return bson.TypeRegex, append(append(append(append(dst, pattern...), 0), options...), 0), ok
	case "$dbPointer":
		f, ok := fieldsOf(e, "$ref", "$id")
		ok = ok && f[0].typ == bson.TypeString && f[1].typ == bson.TypeObjectID
		return bson.TypeDBPointer, append(append(dst, f[0].value...), f[1].value...), ok
	}
	return 0, nil, false
}

func appendWrappedBinary(dst []byte, e element) (bson.Type, []byte, bool) {
	f, ok := fieldsOf(e, "base64", "subType")
	data64, okData := stringOf(f[0])
	subtypeHex, okSub := stringOf(f[1])
	data, errData := base64.StdEncoding.DecodeString(data64)
	subtype, errSub := strconv.ParseUint(subtypeHex, 16, 8)
	ok = ok && okData && okSub && errData == nil && errSub == nil && len(subtypeHex) <= 2
	return bson.TypeBinary, appendBinary(dst, byte(subtype), data), ok
}

func appendCodeWithScope(dst []byte, fields []element) (bson.Type, []byte, error) {
	if fields[0].typ != bson.TypeString || fields[1].typ != bson.TypeEmbeddedDocument {
		return 0, nil, fault.New(fault.Invalid, `Code with scope is written {"$code": "…", "$scope": {…}}.`)
	}
	n := 4 + len(fields[0].value) + len(fields[1].value)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	return bson.TypeCodeWithScope, append(append(dst, fields[0].value...), fields[1].value...), nil
}
