//! How files store the column of a table, and random values of each form.

use arrow_array::types::ArrowPrimitiveType;
use marquetry_core::schema::Schema;

/// Numbers that look random.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    pub(super) fn is(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// How a file stores the column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// What stands in the schema before and behind the name.
    schema: (&'static str, &'static str),
    stored: Stored,
}

#[derive(Debug, Clone, Copy)]
enum Stored {
    /// An integer of so many bits, of which these are the least and the greatest.
    Integer(i128, i128),
    /// Digits of a decimal in big-endian bytes: of one length, or as few as there may be, or some more.
    BigEndian(Option<usize>, u32),
    /// Bytes of a float.
    Float(usize),
    Int96,
    /// Bytes, at most so many, or just so many.
    Bytes(usize),
    Fixed(usize),
    Text,
}

use Stored::*;

const fn form(before: &'static str, behind: &'static str, stored: Stored) -> Form {
    Form { schema: (before, behind), stored }
}

const fn int32(behind: &'static str, least: i128, most: i128) -> Form {
    form("int32", behind, Integer(least, most))
}

const fn int64(behind: &'static str, least: i128, most: i128) -> Form {
    form("int64", behind, Integer(least, most))
}

const I32: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const I64: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
pub(super) const DAY: i128 = 86_400_000_000_000;

/// Forms of which those of one row can be one table.
pub(super) const TABLES: &[&[Form]] = &[
    &[
        int32("", I32.0, I32.1),
        int64("", I64.0, I64.1),
        int32("(INTEGER(8,true))", -128, 127),
        int32("(INTEGER(16,true))", -32_768, 32_767),
        int32("(INTEGER(8,false))", 0, 255),
        int32("(INTEGER(16,false))", 0, 65_535),
        int32("(INTEGER(32,false))", 0, u32::MAX as i128),
    ],
    &[
        int32("(INTEGER(8,false))", 0, 255),
        int32("(INTEGER(32,false))", 0, u32::MAX as i128),
        int64("(INTEGER(64,false))", 0, u64::MAX as i128),
    ],
    &[
        int32("", I32.0, I32.1),
        int64("", I64.0, I64.1),
        int32("(DECIMAL(9,2))", -999_999_999, 999_999_999),
        int32("(DECIMAL(4,0))", -9_999, 9_999),
        int64("(DECIMAL(18,5))", -(10i128.pow(18)) + 1, 10i128.pow(18) - 1),
        int64("(DECIMAL(6,2))", -999_999, 999_999),
        form("fixed_len_byte_array(4)", "(DECIMAL(9,2))", BigEndian(Some(4), 9)),
        form("fixed_len_byte_array(9)", "(DECIMAL(9,2))", BigEndian(Some(9), 9)),
        form("fixed_len_byte_array(16)", "(DECIMAL(30,3))", BigEndian(Some(16), 30)),
        form("binary", "(DECIMAL(9,2))", BigEndian(None, 9)),
        form("binary", "(DECIMAL(20,6))", BigEndian(None, 20)),
        int64("(INTEGER(64,false))", 0, u64::MAX as i128),
    ],
    &[
        form("fixed_len_byte_array(2)", "(FLOAT16)", Float(2)),
        form("float", "", Float(4)),
        form("double", "", Float(8)),
        int32("(INTEGER(16,true))", -32_768, 32_767),
        int32("(INTEGER(8,false))", 0, 255),
    ],
    &[
        form("float", "", Float(4)),
        form("double", "", Float(8)),
        int32("", I32.0, I32.1),
        int32("(INTEGER(32,false))", 0, u32::MAX as i128),
    ],
    &[
        int32("(DATE)", -100_000, 100_000),
        int64("(TIMESTAMP(MILLIS,false))", -9_000_000_000_000, 9_000_000_000_000),
        int64("(TIMESTAMP(MICROS,false))", -9_000_000_000_000_000, 9_000_000_000_000_000),
        int64("(TIMESTAMP(NANOS,false))", I64.0, I64.1),
        form("int96", "", Int96),
    ],
    &[
        int64("(TIMESTAMP(MILLIS,true))", -9_000_000_000_000, 9_000_000_000_000),
        int64("(TIMESTAMP(MICROS,true))", -9_000_000_000_000_000, 9_000_000_000_000_000),
        int64("(TIMESTAMP(NANOS,true))", I64.0, I64.1),
    ],
    &[
        int32("(TIME(MILLIS,true))", 0, 86_399_999),
        int64("(TIME(MICROS,false))", 0, 86_399_999_999),
        int64("(TIME(NANOS,true))", 0, DAY - 1),
    ],
    &[
        form("binary", "", Bytes(6)),
        form("binary", "(STRING)", Text),
        form("binary", "(ENUM)", Text),
        form("binary", "(JSON)", Text),
        form("fixed_len_byte_array(3)", "", Fixed(3)),
        form("fixed_len_byte_array(16)", "(UUID)", Fixed(16)),
        form("binary", "(BSON)", Bytes(6)),
    ],
    &[form("binary", "(STRING)", Text), form("binary", "(ENUM)", Text)],
    &[form("boolean", "", Integer(0, 1))],
];

impl Form {
    pub(super) fn message(self, is_optional: bool) -> Schema {
        let (before, behind) = self.schema;
        let repetition = if is_optional { "optional" } else { "required" };
        Schema::parse(&format!("message m {{ required int64 id; {repetition} {before} x {behind}; }}"))
            .unwrap()
    }

    /// A PLAIN value.
    pub(super) fn value(self, random: &mut Random) -> Vec<u8> {
        match self.stored {
            Integer(least, most) => {
                let value = integer(random, least, most);
                let width = match self.schema.0 {
                    "int64" => 8,
                    "int32" => 4,
                    _ => 1,
                };
                value.to_le_bytes()[..width].to_vec()
            }
            BigEndian(width, digits) => {
                let most = 10i128.pow(digits) - 1;
                let bytes = integer(random, -most, most).to_be_bytes();
                let is_sign = |i: usize| {
                    let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
                    bytes[i] == sign && (bytes[i + 1] ^ sign) & 0x80 == 0
                };
                let first = (0..15).find(|i| !is_sign(*i)).unwrap_or(15);
                let first = match width {
                    Some(width) => 16 - width,
                    // The same number in more bytes than it needs.
                    None => first - random.below(3).min(first),
                };
                bytes[first..].to_vec()
            }
            Float(width) => float(random, width),
            Int96 => {
                let day = 2_440_588 + integer(random, -90_000, 90_000) as i32;
                let nanos = random.pick(&[0, 1, 1_000, 1_000_000, 43_200_000_000_000, DAY as i64 - 1]);
                [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat()
            }
            Bytes(most) => {
                let len = random.below(most + 1);
                (0..len).map(|_| random.pick(b"\0a A\xff9")).collect()
            }
            Fixed(width) => (0..width).map(|_| random.pick(b"\0a9")).collect(),
            Text => {
                let len = random.below(5);
                (0..len).map(|_| random.pick(b"\0a A9")).collect()
            }
        }
    }
}

fn integer(random: &mut Random, least: i128, most: i128) -> i128 {
    let value = match random.below(6) {
        0 => least,
        1 => most,
        2 => i128::from(random.next() as i64),
        3 => 1 << random.below(63),
        _ => random.below(40) as i128 - 10,
    };
    if (least..=most).contains(&value) { value } else { value.rem_euclid(most - least + 1) + least }
}

fn float(random: &mut Random, width: usize) -> Vec<u8> {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        0.1,
        0.5,
        65_504.0,
        1e-7,
        1e300,
        16_777_217.0,
    ];
    let value = match random.below(3) {
        0 => random.pick(&special),
        1 => random.below(80) as f64 / 10.0 - 4.0,
        _ => random.below(600) as f64 - 300.0,
    };
    // Another NaN of the same type.
    let sign = if value.is_nan() && random.is() { 0x80 } else { 0 };
    let mut bytes = match width {
        2 => half(value).to_le_bytes().to_vec(),
        4 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    };
    bytes[width - 1] |= sign;
    bytes
}

type Half = <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native;

pub(super) fn half(value: f64) -> Half {
    Half::from_f64(value)
}
