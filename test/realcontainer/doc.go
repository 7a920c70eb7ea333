// Package realcontainer runs the suite of internal/realsuite inside a container of a MongoDB image, for
// machines that have a container engine and no mongod. It is a separate module, so that the client of
// the engine is not part of the product.
package realcontainer
