package shardkey

import "go.mongodb.org/mongo-driver/v2/bson"

// The first byte of an encoded value is its class. Classes are in the server's
// canonical order of types; numbers have one class per sign and size, so that
// most of their order is decided by the first byte. 0x00 ends a document and
// is below every class; 0xff is above every class and ends a prefix range.
const (
	classEnd       = 0x00
	classMinKey    = 0x01
	classUndefined = 0x02
	classNull      = 0x05

	classNaN         = 0x10
	classNegInf      = 0x11
	classNegHuge     = 0x12 // -2^64 and below
	classNegInteger8 = 0x13 // integer part of 8 bytes; the next classes have one byte less each
	classNegInteger1 = 0x1a
	classNegFraction = 0x1b // (-1, 0)
	classZero        = 0x1c
	classFraction    = 0x1d // (0, 1)
	classInteger1    = 0x1e // integer part of 1 byte; the next classes have one byte more each
	classInteger8    = 0x25
	classHuge        = 0x26 // 2^64 and above
	classInf         = 0x27

	classString        = 0x30
	classObject        = 0x38
	classArray         = 0x40
	classBinary        = 0x48
	classObjectID      = 0x50
	classBool          = 0x58
	classDate          = 0x60
	classTimestamp     = 0x68
	classRegex         = 0x70
	classDBPointer     = 0x78
	classCode          = 0x80
	classCodeWithScope = 0x88
	classMaxKey        = 0xf0

	afterPrefix = 0xff
)

// classOf is the class of a type; all numbers share classNaN here. It precedes a nested
// field's name, because documents compare an element's type first, then its name, then
// its value. ok is false for an unknown type.
func classOf(t bson.Type) (class byte, ok bool) {
	switch t {
	case bson.TypeMinKey:
		return classMinKey, true
	case bson.TypeUndefined:
		return classUndefined, true
	case bson.TypeNull:
		return classNull, true
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return classNaN, true
	case bson.TypeString, bson.TypeSymbol:
		return classString, true
	case bson.TypeEmbeddedDocument:
		return classObject, true
	case bson.TypeArray:
		return classArray, true
	case bson.TypeBinary:
		return classBinary, true
	case bson.TypeObjectID:
		return classObjectID, true
	case bson.TypeBoolean:
		return classBool, true
	case bson.TypeDateTime:
		return classDate, true
	case bson.TypeTimestamp:
		return classTimestamp, true
	case bson.TypeRegex:
		return classRegex, true
	case bson.TypeDBPointer:
		return classDBPointer, true
	case bson.TypeJavaScript:
		return classCode, true
	case bson.TypeCodeWithScope:
		return classCodeWithScope, true
	case bson.TypeMaxKey:
		return classMaxKey, true
	}
	return 0, false
}

// Type bits: one token per number and per string, in the order of the values. The most
// common one is zero, and trailing zeros are not stored.
const (
	bitsInt64      = 0
	bitsInt32      = 1
	bitsDouble     = 2
	bitsNegZero    = 3 // double -0.0
	bitsDecimal    = 4 // followed by the biased exponent, 2 bytes, which distinguishes 1.0 and 1.00
	bitsNegDecimal = 5 // the same for a negative zero
	bitsRawDouble  = 6 // followed by 8 bytes: a NaN other than the usual one
	bitsRawDecimal = 7 // followed by 16 bytes: NaN with payload and non-canonical forms

	bitsString = 0
	bitsSymbol = 1
)
