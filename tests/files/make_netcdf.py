"""Makes the NetCDF files of a folder, with netCDF4 1.7, h5py and SciPy."""
import sys

import h5py
import netCDF4
import numpy as np
import scipy.io

folder = sys.argv[1]
FORMATS = {
    "classic": "NETCDF3_CLASSIC",
    "offset64": "NETCDF3_64BIT_OFFSET",
    "data64": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
}


def grid(name, model):
    """Records of three types, packed and missing values, texts, attributes."""
    f = netCDF4.Dataset(f"{folder}/{name}", "w", format=model)
    f.title = "A grid of 2 by 3 places"
    f.version = np.int32(7)
    f.createDimension("time", None)
    f.createDimension("lat", 2)
    f.createDimension("lon", 3)
    f.createDimension("letters", 6)
    time = f.createVariable("time", "f8", ("time",))
    time.units = "days since 2000-01-01"
    lat = f.createVariable("lat", "f4", ("lat",))
    lat.units = "degrees_north"
    lat[:] = [-30.5, 45.25]
    lon = f.createVariable("lon", "f8", ("lon",))
    lon[:] = [0.0, 120.0, 240.0]
    temp = f.createVariable("temp", "i2", ("time", "lat", "lon"), fill_value=-999)
    temp.units = "K"
    temp.scale_factor = 0.5
    temp.add_offset = 250.0
    temp.valid_range = np.array([-100, 200], "i2")
    temp.set_auto_maskandscale(False)
    rain = f.createVariable("rain", "f4", ("time", "lat", "lon"), fill_value=1e20)
    rain.missing_value = np.float32(-1.0)
    flag = f.createVariable("flag", "i1", ("time", "lon"))
    temp[:] = [[[0, 1, 2], [3, -999, 5]], [[6, 7, 8], [9, 10, -11]]]
    rain[:] = np.ma.masked_values([[[0.5, 1, 1.5], [2, 2.5, 1e20]], [[-1, 3.5, 4], [4.5, 5, 5.5]]], 1e20)
    flag[:] = [[1, 2, 3], [-1, -2, -3]]
    time[:] = [0.25, 1.25]
    names = f.createVariable("names", "S1", ("lat", "letters"))
    names[:] = np.array(["Süd".encode(), b"North"], "S6").view("S1").reshape(2, 6)
    count = f.createVariable("count", "i4", ())
    count[...] = 42
    part = f.createVariable("part", "i4", ("lon",))
    part[0:2] = [1, 2]
    if model in ("NETCDF3_64BIT_DATA", "NETCDF4"):
        for ty, values in {
            "u1": [0, 255, 7],
            "u2": [0, 65535, 7],
            "u4": [0, 4294967295, 7],
            "i8": [0, -9007199254740993, 7],
            "u8": [0, 18446744073709551615, 7],
        }.items():
            f.createVariable(f"of_{ty}", ty, ("lon",))[:] = np.array(values, ty)
    f.close()


for short, model in FORMATS.items():
    grid(f"grid_{short}.nc", model)

# One record variable of a small type: its records are not padded.
f = scipy.io.netcdf_file(f"{folder}/one_record_variable.nc", "w", version=2)
f.createDimension("time", None)
f.createDimension("x", 3)
v = f.createVariable("a", "i2", ("time", "x"))
v[:] = np.arange(9, dtype="i2").reshape(3, 3)
f.close()


def mesh(name, model):
    """A mesh of two triangles and a square, by UGRID, counted from 1."""
    f = netCDF4.Dataset(f"{folder}/{name}", "w", format=model)
    f.Conventions = "UGRID-1.0"
    f.createDimension("node", 6)
    f.createDimension("face", 3)
    f.createDimension("corner", 4)
    f.createDimension("two", 2)
    m = f.createVariable("mesh", "i4", ())
    m.cf_role = "mesh_topology"
    m.topology_dimension = np.int32(2)
    m.node_coordinates = "node_x node_y"
    m.face_node_connectivity = "face_nodes"
    m.edge_node_connectivity = "edge_nodes"
    m.face_face_connectivity = "face_links"
    m.face_dimension = "face"
    x = f.createVariable("node_x", "f8", ("node",))
    y = f.createVariable("node_y", "f8", ("node",))
    x[:] = [0, 1, 2, 0, 1, 2]
    y[:] = [0, 0, 0, 1, 1, 1]
    c = f.createVariable("face_nodes", "i4", ("face", "corner"), fill_value=-1)
    c.start_index = np.int32(1)
    c[:] = [[1, 2, 5, 4], [2, 3, 5, -1], [3, 6, 5, -1]]
    e = f.createVariable("edge_nodes", "i4", ("face", "two"))
    e[:] = [[0, 1], [1, 2], [2, 5]]
    # The other way round, as `face_dimension` says.
    l = f.createVariable("face_links", "i4", ("corner", "face"), fill_value=999999)
    l.start_index = np.int32(1)
    l[:] = np.array([[2, 999999, 999999, 999999], [1, 3, 999999, 999999], [2, 999999, 999999, 999999]]).T
    bad = f.createVariable("bad_nodes", "i4", ("face", "two"))
    bad.start_index = np.int32(1)
    bad[:] = [[1, 2], [2, 3], [0, 6]]
    f.close()


mesh("mesh_classic.nc", "NETCDF3_CLASSIC")
mesh("mesh_netcdf4.nc", "NETCDF4")

# Chunks, compressed and shuffled, a group, texts of any length.
f = netCDF4.Dataset(f"{folder}/packed_netcdf4.nc", "w", format="NETCDF4")
f.createDimension("y", 40)
f.createDimension("x", 30)
z = f.createVariable("z", "f8", ("y", "x"), zlib=True, complevel=9, shuffle=True, chunksizes=(16, 16))
z.units = "m"
z[:] = np.arange(1200).reshape(40, 30) / 4
big = f.createVariable("big_endian", ">i4", ("x",), zlib=True, fletcher32=True)
big[:] = np.arange(30) - 15
s = f.createVariable("names", str, ("x",))
for i in range(30):
    s[i] = f"name {i}" if i % 2 else "ö" * (i // 2)
g = f.createGroup("inner")
g.createDimension("k", 3)
v = g.createVariable("v", "i8", ("k", "y"))
v[:] = np.arange(120).reshape(3, 40)
v.note = "in a group"
f.close()

# What Felis writes to the same bits.
f = netCDF4.Dataset(f"{folder}/written_offset64.nc", "w", format="NETCDF3_64BIT_OFFSET")
f.set_fill_off()
f.title = "What Felis writes"
f.createDimension("time", 2)
f.createDimension("lon", 3)
f.createDimension("string8", 8)
v = f.createVariable("time", "f8", ("time",))
v.units = "days since 2000-01-01"
v[:] = [0.25, 1.25]
v = f.createVariable("temp", "f8", ("time", "lon"))
v.units = "K"
v.valid_range = np.array([100.0, 400.0])
v.level = np.int32(3)
v[:] = [[250 + 0.5 * i + 2 * j for j in range(3)] for i in range(2)]
v = f.createVariable("rain", "f4", ("lon",), fill_value=-1)
v[:] = np.ma.masked_values([0, -1, 2], -1)
v = f.createVariable("count", "i4", ())
v.note = "a number"
v[...] = 42
f.createVariable("part", "i1", ("lon",))[:] = [1, 2, 3]
f.createVariable("small", "i2", ("lon",))[:] = [1, -2, 3]
f.createVariable("names", "S1", ("lon", "string8"))[:] = (
    np.array([b"a", "größer".encode() + b"", b""], "S8").view("S1").reshape(3, 8)
)
f.close()

# Groups in circles, and links that lead nowhere or to other files.
with h5py.File(f"{folder}/cycle.nc", "w") as f:
    g = f.create_group("g")
    g["self"] = g
    g["root"] = f["/"]
    g["x"] = np.arange(3.0)
    f["y"] = np.arange(2.0)
    f["soft"] = h5py.SoftLink("/soft")
    f["other"] = h5py.ExternalLink("other.nc", "/x")
