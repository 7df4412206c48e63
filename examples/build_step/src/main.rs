//! Prints what each task of the program would receive.

fn main() {
    for task in build_step::registry().tasks() {
        println!("{}", build_step::receives(task));
    }
}
