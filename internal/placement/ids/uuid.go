package ids

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/localityid"
)

// UUID is the 16 bytes of a UUID in their written order, which is also the order of BSON's binary
// subtype 4.
type UUID [16]byte

// String is the canonical form in lower case.
func (u UUID) String() string {
	s := hex.EncodeToString(u[:])
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// version and variant nibbles (RFC 9562); other variants have no versions.
func (u UUID) version() byte { return u[6] >> 4 }
func (u UUID) standard() bool {
	return u[8]&0xc0 == 0x80
}

// OfUUID decodes a UUID by its version. now is used to judge whether a time is plausible, which
// also distinguishes a locality UUID from a random one of an unknown version.
func OfUUID(u UUID, now time.Time) Anatomy {
	a := Anatomy{Text: u.String(), Ranged: Undecided, Hashed: Even}
	switch {
	case u == UUID{}:
		a.Kind = UUIDNil
	case strings.Trim(a.Text, "f-") == "":
		a.Kind = UUIDMax
	case localityid.ID(u).IsLocality(now):
		locality(&a, u, now)
	case !u.standard():
		a.Kind = UUIDOther
	default:
		byVersion(&a, u, now)
	}
	if a.Kind == UUIDOther {
		a.part("version", strconv.Itoa(int(u.version())), 12, 13)
	}
	return a
}

func byVersion(a *Anatomy, u UUID, now time.Time) {
	switch u.version() {
	case 1:
		a.Kind, a.Ranged = UUID1, Sweep
		ticks := uint64(
			binary.BigEndian.Uint16(u[6:])&0x0fff,
		)<<48 | uint64(
			binary.BigEndian.Uint16(u[4:]),
		)<<32 | uint64(
			binary.BigEndian.Uint32(u[:]),
		)
		gregorian(a, u, ticks, now)
	case 6:
		a.Kind, a.Ranged = UUID6, LastChunk
		ticks := uint64(
			binary.BigEndian.Uint32(u[:]),
		)<<28 | uint64(
			binary.BigEndian.Uint16(u[4:]),
		)<<12 | uint64(
			binary.BigEndian.Uint16(u[6:])&0x0fff,
		)
		gregorian(a, u, ticks, now)
	case 7:
		a.Kind, a.Ranged = UUID7, LastChunk
		ms := milliseconds(u[:6])
		a.part("milliseconds", strconv.FormatInt(ms, 10), 0, 12)
		a.part("randomA", hex.EncodeToString(u[6:8])[1:], 13, 16)
		a.part("randomB", hex.EncodeToString(u[8:]), 16, 32) // its first two bits are the variant
		a.made(time.UnixMilli(ms), now)
	case 4:
		a.Kind, a.Ranged = UUID4, Spread
		a.part("random", hex.EncodeToString(u[:]), 0, 32)
	case 3:
		a.Kind, a.Ranged = UUID3, Spread
		a.part("nameHash", hex.EncodeToString(u[:]), 0, 32)
	case 5:
		a.Kind, a.Ranged = UUID5, Spread
		a.part("nameHash", hex.EncodeToString(u[:]), 0, 32)
	case 8:
		a.Kind = UUID8
	default:
		a.Kind = UUIDOther
	}
}

// gregorian decodes what versions 1 and 6 share: ticks of 100 ns since 1582-10-15, a clock sequence
// and a node.
func gregorian(a *Anatomy, u UUID, ticks uint64, now time.Time) {
	const toUnix = 122192928000000000 // ticks from 1582-10-15 to 1970-01-01
	a.part("ticks", strconv.FormatUint(ticks, 10), 0, 16)
	a.part("clockSequence", strconv.Itoa(int(binary.BigEndian.Uint16(u[8:])&0x3fff)), 16, 20)
	a.part("node", colons(hex.EncodeToString(u[10:])), 20, 32)
	if u[10]&1 == 1 {
		a.note("nodeRandom", "The node is a random number, not a network card.") // network cards have no multicast addresses
	}
	t := int64(ticks) - toUnix
	a.made(time.Unix(t/1e7, t%1e7*100), now)
}

func milliseconds(b []byte) int64 {
	var ms int64
	for _, c := range b {
		ms = ms<<8 | int64(c)
	}
	return ms
}

// colons writes hex digits in pairs, like a MAC address.
func colons(digits string) string {
	var pairs []string
	for i := 0; i+1 < len(digits); i += 2 {
		pairs = append(pairs, digits[i:i+2])
	}
	return strings.Join(pairs, ":")
}
