package shardkey

// decoder converts an encoding and its type bits back to BSON. Both are untrusted: they
// may come from storage or from the network.
type decoder struct {
	enc  string // remaining bytes
	bits string // remaining type bits; zeros after the end
}

func (d *decoder) byte() (byte, error) {
	if d.enc == "" {
		return 0, errEncoding
	}
	b := d.enc[0]
	d.enc = d.enc[1:]
	return b, nil
}

func (d *decoder) take(dst []byte, n int) ([]byte, error) {
	if len(d.enc) < n {
		return nil, errEncoding
	}
	dst = append(dst, d.enc[:n]...)
	d.enc = d.enc[n:]
	return dst, nil
}

func (d *decoder) uint64() (v uint64, err error) {
	if len(d.enc) < 8 {
		return 0, errEncoding
	}
	for i := range 8 {
		v = v<<8 | uint64(d.enc[i])
	}
	d.enc = d.enc[8:]
	return v, nil
}

// token is the next byte of the type bits; trailing zeros are not kept.
func (d *decoder) token() byte {
	if d.bits == "" {
		return 0
	}
	b := d.bits[0]
	d.bits = d.bits[1:]
	return b
}

// payload is the next 8 bytes of the type bits.
func (d *decoder) payload() (v uint64) {
	for range 8 {
		v = v<<8 | uint64(d.token())
	}
	return v
}
