package localityid

import (
	"crypto/rand"
	"encoding/binary"
	"net"
)

// HostMAC is the last 28 bits of the MAC address of this machine's first network card that has one, else 28 random
// bits.
func HostMAC() uint32 {
	cards, _ := net.Interfaces() // a machine that does not tell has random bits
	for _, card := range cards {
		if a := card.HardwareAddr; card.Flags&net.FlagLoopback == 0 && len(a) == 6 {
			if mac := binary.BigEndian.Uint32(a[2:]) & MaxMAC; mac != 0 {
				return mac
			}
		}
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return binary.BigEndian.Uint32(random[:]) & MaxMAC
}
