package wire

import (
	"encoding/binary"
	"hash/crc32"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendMsg appends an OP_MSG reply with one body section. With ChecksumPresent in
// flags the checksum follows; a server adds one if the request had one.
func AppendMsg(dst []byte, requestID, responseTo int32, flags Flags, body bson.Raw) []byte {
	start := len(dst)
	size := headerSize + 4 + 1 + len(body)
	if flags&ChecksumPresent != 0 {
		size += 4
	}
	dst = appendHeader(dst, size, requestID, responseTo, OpMsg)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(flags))
	dst = append(dst, 0)
	dst = append(dst, body...)
	if flags&ChecksumPresent != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	}
	return dst
}

// AppendReply appends an OP_REPLY with one document, the answer to an OP_QUERY
// that carried a command.
func AppendReply(dst []byte, requestID, responseTo int32, body bson.Raw) []byte {
	const awaitCapable = 8
	dst = appendHeader(dst, headerSize+20+len(body), requestID, responseTo, OpReply)
	dst = binary.LittleEndian.AppendUint32(dst, awaitCapable)
	dst = binary.LittleEndian.AppendUint64(dst, 0) // cursor id
	dst = binary.LittleEndian.AppendUint32(dst, 0) // starting from
	dst = binary.LittleEndian.AppendUint32(dst, 1) // number returned
	return append(dst, body...)
}

func appendHeader(dst []byte, size int, requestID, responseTo int32, op OpCode) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(requestID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(responseTo))
	return binary.LittleEndian.AppendUint32(dst, uint32(op))
}
