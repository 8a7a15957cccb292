// Package lift turns RBAC filters back into a program: the inverse of [xds.Compile].
//
// It guarantees that the program decides as the filters do, whoever made them, or that it
// names what it could not say. It reads no dump of a sidecar and judges no request. Its
// programs are there to cut requests into classes; some of them are not what
// [xds.Compile] accepts.
package lift
