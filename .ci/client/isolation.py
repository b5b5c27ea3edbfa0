"""A network namespace that has loopback and nothing else."""

import fcntl
import socket
import struct
import subprocess

# From linux/sockios.h and linux/if.h.
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def run_again(command):
    """This program once more, inside; its exit status."""
    inside = ["unshare", "--map-root-user", "--net", *command, "--inside"]
    try:
        return subprocess.run(inside).returncode
    except FileNotFoundError:
        raise SystemExit("unshare is missing: install util-linux") from None


def raise_loopback():
    """Takes the new namespace's loopback into use, and makes sure that it is alone."""
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if others:
        raise SystemExit("--inside is for the run that has a network of its own")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
