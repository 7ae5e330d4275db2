//! Instances as named arrays, for callers that know their problem at run time only.

use bqnco_io::{RawInstance, Record};

use crate::{Instance, ProblemName, Result};

impl Instance {
    /// The instance that named arrays describe ([`InstanceIo::FIELDS`](bqnco_io::InstanceIo::FIELDS)), as in a JSON file.
    ///
    /// ```
    /// use bqnco::io::{Array, RawInstance};
    ///
    /// let mut fields = RawInstance::default();
    /// fields.insert("values", Array::list(vec![3.0, 4.0, 5.0]));
    /// fields.insert("weights", Array::list(vec![2.0, 3.0, 4.0]));
    /// fields.insert("capacity", Array::scalar(5.0));
    /// let instance = bqnco::Instance::from_fields("knapsack".parse()?, fields.clone())?;
    /// assert_eq!(instance.fields().get("values"), fields.get("values"));
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Missing and unknown fields, wrong shapes, invalid numbers.
    pub fn from_fields(problem: ProblemName, fields: RawInstance) -> Result<Self> {
        dispatch!(problem, P => Ok(Self::from_record(Record::<P>::from_fields(fields, P::NAME.into())?)))
    }

    /// The named arrays that describe it, with its solution and reference if it has them.
    pub fn fields(&self) -> RawInstance {
        let mut fields = dispatch!(self.problem(), P => self.record::<P>().to_fields());
        fields.name = Some(self.name().into());
        fields
    }
}
