// Package localityid makes and takes apart locality UUIDs, a format that Groupon published in 2013. An id says where
// and when it was made, and its maker chooses whether ids of the same time lie together in the key space or spread
// over it.
//
// The layout is wwwwwwww-xxxx-byyy-yyyy-zzzzzzzzzzzz in hexadecimal digits:
//
//	w  a counter, 32 bits
//	x  the id of the process, 16 bits
//	b  the digit b, where other UUIDs have their version
//	y  the last 28 bits of a MAC address
//	z  milliseconds since 1970 in UTC, 48 bits
//
// Ids of different makers differ while a machine has at most 65,536 processes, no two machines share the 28 bits, and a
// process makes fewer than 2³² ids in a millisecond.
package localityid

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"time"
)

// ID is the 16 bytes of an id in their written order, which is also the order of BSON's binary subtype 4.
type ID [16]byte

// Limits of the fields.
const (
	MaxMAC          = 1<<28 - 1 // of the part of a MAC address
	MaxMilliseconds = 1<<48 - 1 // since 1970: the year 10889
)

// Fields are what an id consists of.
type Fields struct {
	Counter      uint32 // the first eight digits as they are written; Reversed gives the number in the default mode
	Process      uint16
	MAC          uint32 // at most MaxMAC
	Milliseconds int64  // since 1970 in UTC, from 0 to MaxMilliseconds
}

// Of writes fields as an id. Bits beyond the limits of a field are left out.
func Of(f Fields) (id ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(f.Milliseconds)) // its upper two bytes are written over below
	binary.BigEndian.PutUint32(id[0:], f.Counter)
	binary.BigEndian.PutUint16(id[4:], f.Process)
	binary.BigEndian.PutUint32(id[6:], 0xb<<28|f.MAC&MaxMAC)
	return id
}

// Fields takes the id apart. Only IsLocality tells whether they mean anything.
func (id ID) Fields() Fields {
	return Fields{
		Counter:      binary.BigEndian.Uint32(id[0:]),
		Process:      binary.BigEndian.Uint16(id[4:]),
		MAC:          binary.BigEndian.Uint32(id[6:]) & MaxMAC,
		Milliseconds: int64(binary.BigEndian.Uint64(id[8:]) & MaxMilliseconds),
	}
}

// String is the id in lower case with hyphens.
func (id ID) String() string {
	var text [36]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// IsLocality reports whether an id can be a locality UUID: it has the digit b, and a time between 2012, when the format
// was made, and one day after now. There is no other sign.
func (id ID) IsLocality(now time.Time) bool {
	at := id.Time()
	return id[6]>>4 == 0xb && at.Year() >= 2012 && at.Before(now.Add(24*time.Hour))
}

// Time is when the id was made, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(id.Fields().Milliseconds).UTC() }

// MACText is the part of the MAC address as the published example writes it, with its first five digits unknown:
// __:__:_d:53:7a:50.
func (f Fields) MACText() string {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], f.MAC)
	digits := hex.EncodeToString(four[:])
	return "__:__:_" + digits[1:2] + ":" + digits[2:4] + ":" + digits[4:6] + ":" + digits[6:8]
}

// Reversed reads the eight hexadecimal digits of a counter backwards, as the default mode writes them.
func Reversed(n uint32) uint32 {
	n = bits.ReverseBytes32(n)
	return n>>4&0x0f0f0f0f | n<<4&0xf0f0f0f0
}
